// Program testbed is a whole Kubernetes control plane in one file: the first argument names the
// component, the rest are that component's own flags.
//
//	testbed etcd --data-dir ...
//	testbed kube-apiserver --etcd-servers ...
//	testbed kubectl get pods
//
// One program instead of five because the five share nearly all of their code: 133 MB instead of 400.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	name, args := componentOf(os.Args)
	if name == "etcd" {
		etcdmain.Main(args)
		return
	}
	newCommand, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "testbed: no component %q: want etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kubectl\n", name)
		os.Exit(2)
	}
	os.Args = args
	os.Exit(cli.Run(newCommand()))
}

// componentOf finds the component in the program's own name (a link called kubectl) or else in the
// first argument, and returns the command line as that component expects to see it.
func componentOf(argv []string) (string, []string) {
	own := filepath.Base(argv[0])
	if _, known := components[own]; known || own == "etcd" {
		return own, argv
	}
	if len(argv) < 2 {
		return "", nil
	}
	return argv[1], argv[1:]
}
