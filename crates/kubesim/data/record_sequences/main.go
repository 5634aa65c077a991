// Program record_sequences runs sequences of writes through the field manager of Kubernetes and
// adds what came out of each: the object, its managers, or the refusal.
//
//	python3 sequences.py SEED COUNT > in.json
//	go run . in.json > ../../src/merge/tests/recorded.json
//
// Sequences refused for several reasons at once are to be left out: their order is random there.
package main

import (
	"encoding/json"
	"errors"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kjson "sigs.k8s.io/json"
)

type creater struct{}

func (creater) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := unstructured.Unstructured{Object: map[string]interface{}{}}
	u.SetGroupVersionKind(gvk)
	return &u, nil
}

type convertor struct{}

func (convertor) Convert(in, out, context interface{}) error { return nil }
func (convertor) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (convertor) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", errors.New("no")
}

type defaulter struct{}

func (defaulter) Default(in runtime.Object) {}

type step struct {
	Op       string                   `json:"op"`
	Manager  string                   `json:"manager"`
	Spec     interface{}              `json:"spec"`
	Error    string                   `json:"error,omitempty"`
	Result   interface{}              `json:"result,omitempty"`
	Managers []map[string]interface{} `json:"managers,omitempty"`
}

func main() {
	raw, _ := os.ReadFile(os.Args[1])
	var doc struct {
		Schemas   map[string]*spec.Schema `json:"schemas"`
		Scenarios [][]*step               `json:"scenarios"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		panic(err)
	}
	tc, err := managedfields.NewTypeConverter(doc.Schemas, false)
	if err != nil {
		panic(err)
	}
	gvk := schema.GroupVersionKind{Group: "ex.io", Version: "v1", Kind: "Thing"}
	fm, err := managedfields.NewDefaultCRDFieldManager(tc, convertor{}, defaulter{}, creater{}, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		panic(err)
	}
	for _, steps := range doc.Scenarios {
		empty, _ := creater{}.New(gvk)
		live := empty
		for _, s := range steps {
			b, _ := json.Marshal(map[string]interface{}{"apiVersion": "ex.io/v1", "kind": "Thing", "metadata": map[string]interface{}{"name": "a"}, "spec": s.Spec})
			obj := map[string]interface{}{}
			if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &obj); err != nil {
				panic(err)
			}
			u := &unstructured.Unstructured{Object: obj}
			var out runtime.Object
			var err error
			switch s.Op {
			case "put":
				if uid := live.(*unstructured.Unstructured).GetUID(); uid != "" {
					u.SetUID(uid)
				}
				out = fm.UpdateNoErrors(live.DeepCopyObject(), u, s.Manager)
			default:
				out, err = fm.Apply(live.DeepCopyObject(), u, s.Manager, s.Op == "force")
			}
			if err != nil {
				s.Error = err.Error()
				continue
			}
			o := out.(*unstructured.Unstructured)
			o.SetUID("u")
			live = o
			s.Result = o.DeepCopy().Object["spec"]
			mf, _, _ := unstructured.NestedSlice(o.DeepCopy().Object, "metadata", "managedFields")
			for _, e := range mf {
				m := e.(map[string]interface{})
				_, timed := m["time"]
				s.Managers = append(s.Managers, map[string]interface{}{"manager": m["manager"], "operation": m["operation"], "timed": timed, "fields": m["fieldsV1"]})
			}
		}
	}
	out, _ := json.Marshal(doc.Scenarios)
	os.Stdout.Write(out)
}
