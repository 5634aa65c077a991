//! Who may do what: roles, bindings, tokens, certificates, impersonation and reviews.

use bytes::Bytes;
use evenkeel_kubesim::adapters::{Identity, Server};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Cluster, User};
use http::{Request, header};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::Answer;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
const CLUSTER_ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const CLUSTER_BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";

struct Ask<'a> {
    view: &'a View,
    headers: Vec<(&'static str, &'a str)>,
}

impl<'a> Ask<'a> {
    fn of(view: &'a View) -> Self {
        Self {
            view,
            headers: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(Bytes::from(body))
            .expect("a request");
        Answer::read(self.view.handle(request).await.expect("an answer")).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &Value::Null).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body).await
    }
}

/// A cluster with an agent who may do what these rules of a role in `default` allow.
async fn agent_with(rules: &Value) -> (Cluster, View) {
    let cluster = Cluster::builder().rights().build();
    let admin = cluster.view("admin");
    let role = json!({"metadata": {"name": "agent"}, "rules": rules});
    Ask::of(&admin).post(ROLES, &role).await.expect(201);
    let binding = json!({
        "metadata": {"name": "agent"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "agent"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "agent"}],
    });
    Ask::of(&admin).post(BINDINGS, &binding).await.expect(201);
    let agent = cluster.view_as(User::named("agent"));
    (cluster, agent)
}

fn message(answer: &Answer) -> String {
    answer.expect(403)["message"]
        .as_str()
        .expect("a message")
        .to_owned()
}

#[tokio::test]
async fn a_role_gives_exactly_what_it_says() {
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["mine"], "verbs": ["get"]},
        {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["*"]},
    ]);
    let (_cluster, agent) = agent_with(&rules).await;
    let agent = Ask::of(&agent);
    agent.get(MAPS).await.expect(200);
    assert_eq!(
        message(
            &agent
                .send("DELETE", &format!("{MAPS}/x"), &Value::Null)
                .await
        ),
        "configmaps \"x\" is forbidden: User \"agent\" cannot delete resource \"configmaps\" in \
         API group \"\" in the namespace \"default\""
    );
    let elsewhere = agent.get("/api/v1/configmaps").await;
    assert_eq!(
        message(&elsewhere),
        "configmaps is forbidden: User \"agent\" cannot list resource \"configmaps\" in API group \
         \"\" at the cluster scope"
    );
    let secrets = "/api/v1/namespaces/default/secrets";
    assert_eq!(
        agent.get(&format!("{secrets}/mine")).await.code,
        404,
        "allowed, but not there"
    );
    assert_eq!(agent.get(&format!("{secrets}/other")).await.code, 403);
    let web = "/apis/apps/v1/namespaces/default/deployments/web";
    assert_eq!(agent.get(&format!("{web}/scale")).await.code, 404);
    assert_eq!(agent.get(web).await.code, 403);
}

#[tokio::test]
async fn nobody_in_particular_sees_only_what_is_public() {
    let cluster = Cluster::builder()
        .rights()
        .token("secret", User::admin("root"))
        .build();
    let entrance = cluster.entrance();
    assert_eq!(Ask::of(&entrance).get("/version").await.code, 200);
    let refused = Ask::of(&entrance).get("/api").await;
    assert_eq!(
        message(&refused),
        "forbidden: User \"system:anonymous\" cannot get path \"/api\""
    );
    let wrong = Ask::of(&entrance).with("authorization", "Bearer nonsense");
    assert_eq!(
        wrong.get("/version").await.expect(401)["message"],
        "Unauthorized"
    );
    let right = Ask::of(&entrance).with("authorization", "Bearer secret");
    right.get(MAPS).await.expect(200);
}

#[tokio::test]
async fn aggregated_roles_follow_their_parts() {
    let cluster = Cluster::builder().rights().build();
    let admin = cluster.view("admin");
    let admin = Ask::of(&admin);
    let view = admin
        .get(&format!("{CLUSTER_ROLES}/view"))
        .await
        .expect(200);
    assert!(
        view["rules"]
            .as_array()
            .is_some_and(|rules| rules.len() > 5),
        "{view}"
    );
    let part = json!({
        "metadata": {
            "name": "widgets",
            "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
        },
        "rules": [{"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get"]}],
    });
    admin.post(CLUSTER_ROLES, &part).await.expect(201);
    for role in ["view", "edit", "admin"] {
        let role = admin
            .get(&format!("{CLUSTER_ROLES}/{role}"))
            .await
            .expect(200);
        let rules = role["rules"].as_array().expect("rules");
        assert!(rules.contains(&part["rules"][0]), "{role}");
    }
}

#[tokio::test]
async fn nobody_gives_what_they_do_not_have() {
    let rules = json!([
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    ]);
    let (_cluster, agent) = agent_with(&rules).await;
    let agent = Ask::of(&agent);
    let role = |verbs: Value| {
        json!({
            "metadata": {"name": "more"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}],
        })
    };
    let refused = agent
        .post(ROLES, &role(json!(["get", "list", "delete"])))
        .await;
    assert_eq!(
        message(&refused),
        "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"agent\" \
         (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently \
         held:\n{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"list\" \"delete\"]}"
    );
    agent.post(ROLES, &role(json!(["get"]))).await.expect(201);
    let binding = json!({
        "metadata": {"name": "root"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
        },
        "subjects": [{"kind": "User", "name": "agent", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    assert!(message(&agent.post(BINDINGS, &binding).await).contains("not currently held"));
}

#[tokio::test]
async fn acting_as_somebody_else_needs_the_right_to() {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let (cluster, agent) = agent_with(&rules).await;
    let admin = cluster.view("admin");
    let as_agent = Ask::of(&admin).with("impersonate-user", "agent");
    as_agent.get(MAPS).await.expect(200);
    assert_eq!(as_agent.get("/api/v1/nodes").await.code, 403);
    let refused = Ask::of(&agent)
        .with("impersonate-user", "admin")
        .get(MAPS)
        .await;
    assert_eq!(
        message(&refused),
        "configmaps is forbidden: User \"agent\" cannot impersonate-on:user-info:list resource \
         \"configmaps\" in API group \"\" in the namespace \"default\""
    );
}

#[tokio::test]
async fn reviews_tell_what_is_allowed() {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let (cluster, agent) = agent_with(&rules).await;
    let agent = Ask::of(&agent);
    let may = async |verb: &str| {
        let asked = json!({"verb": verb, "resource": "configmaps", "namespace": "default"});
        let review = json!({"spec": {"resourceAttributes": asked}});
        let answer = agent
            .post(&format!("{REVIEWS}/selfsubjectaccessreviews"), &review)
            .await;
        answer.expect(201)["status"].clone()
    };
    let yes = may("list").await;
    assert_eq!(yes["allowed"], true);
    assert_eq!(
        yes["reason"],
        "RBAC: allowed by RoleBinding \"agent/default\" of Role \"agent\" to User \"agent\""
    );
    assert_eq!(may("delete").await, json!({"allowed": false}));
    let rules = json!({"spec": {"namespace": "default"}});
    let rules = agent
        .post(&format!("{REVIEWS}/selfsubjectrulesreviews"), &rules)
        .await;
    let rules = rules.expect(201)["status"]["resourceRules"].clone();
    let own = json!({"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]});
    assert!(
        rules.as_array().is_some_and(|rules| rules.contains(&own)),
        "{rules}"
    );
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let who = agent.post(who, &json!({})).await.expect(201);
    assert_eq!(who["status"]["userInfo"]["username"], "agent");
    let admin = cluster.view("admin");
    let other = json!({"spec": {
        "user": "agent",
        "resourceAttributes": {"verb": "list", "resource": "secrets", "namespace": "default"},
    }});
    let other = Ask::of(&admin)
        .post(&format!("{REVIEWS}/subjectaccessreviews"), &other)
        .await;
    assert_eq!(other.expect(201)["status"]["allowed"], false);
}

#[tokio::test]
async fn a_service_account_shows_its_token() {
    let cluster = Cluster::builder().rights().build();
    let admin = cluster.view("admin");
    let admin = Ask::of(&admin);
    let binding = json!({
        "metadata": {"name": "viewer"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    });
    admin.post(CLUSTER_BINDINGS, &binding).await.expect(201);
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let token = admin
        .post(&format!("{account}/token"), &json!({"spec": {}}))
        .await
        .expect(201);
    let token = token["status"]["token"]
        .as_str()
        .expect("a token")
        .to_owned();
    let bearer = format!("Bearer {token}");
    let entrance = cluster.entrance();
    let program = Ask::of(&entrance).with("authorization", &bearer);
    program.get(MAPS).await.expect(200);
    assert_eq!(
        program.get("/api/v1/namespaces/default/secrets").await.code,
        403
    );
    let review = json!({"spec": {"token": token}});
    let review = admin
        .post("/apis/authentication.k8s.io/v1/tokenreviews", &review)
        .await
        .expect(201);
    assert_eq!(
        review["status"]["user"]["username"],
        "system:serviceaccount:default:default"
    );
    admin
        .send("DELETE", account, &Value::Null)
        .await
        .expect(200);
    assert_eq!(
        program.get(MAPS).await.code,
        401,
        "the account that comes back is another one"
    );
}

#[tokio::test]
async fn a_client_acts_as_a_service_account() {
    let cluster = Cluster::builder().rights().build();
    let user = User::service_account("default", "robot");
    let client = Client::new(cluster.view_as(user), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let refused = maps
        .list(&ListParams::default())
        .await
        .expect_err("no rights");
    assert!(
        refused
            .to_string()
            .contains("system:serviceaccount:default:robot"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_certificate_says_who_somebody_is() {
    let cluster = Cluster::builder().rights().build();
    let identity = Identity::generate(&["127.0.0.1"]).expect("an identity");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server = Server::start_tls(listener, cluster.entrance(), &identity).expect("a server");
    let list = async |user: &User| {
        let certificate = identity.certify(user).expect("a certificate");
        let encode = |text: &str| {
            use base64::Engine;
            base64::engine::general_purpose::STANDARD.encode(text)
        };
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "x", "cluster": {
                "server": server.url(),
                "certificate-authority-data": encode(&identity.authority),
            }}],
            "users": [{"name": "x", "user": {
                "client-certificate-data": encode(&certificate.certificate),
                "client-key-data": encode(&certificate.key),
            }}],
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        });
        let config = Kubeconfig::from_yaml(&config.to_string()).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let client = Client::try_from(config.expect("a config")).expect("a client");
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        maps.list(&ListParams::default()).await
    };
    list(&User::admin("root")).await.expect("masters may list");
    let refused = list(&User::named("jane")).await.expect_err("jane may not");
    assert!(
        refused.to_string().contains("User \"jane\" cannot list"),
        "{refused}"
    );
    server.stop().await;
}
