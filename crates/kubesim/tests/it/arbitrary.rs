//! Whatever the bytes, the cluster answers: no panic, and never an answer without a sense.

use bytes::Bytes;
use evenkeel_kubesim::Cluster;
use http::{Request, header};
use proptest::prelude::*;

/// A cluster that answered anything at all still answers.
fn answers(cluster: &Cluster, request: Request<Bytes>) -> u16 {
    let code = cluster.handle(request).status().as_u16();
    assert!((200..600).contains(&code));
    let probe = Request::get("/api/v1/namespaces/default")
        .body(Bytes::new())
        .expect("a request");
    assert_eq!(cluster.handle(probe).status().as_u16(), 200);
    code
}

fn methods() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE"])
}

fn paths() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "/api/v1/namespaces/default/configmaps",
        "/api/v1/namespaces/default/configmaps/a",
        "/api/v1/namespaces/default/pods",
        "/api/v1/namespaces/default/services/s",
        "/apis/apps/v1/namespaces/default/deployments",
        "/apis/apps/v1/namespaces/default/deployments/a/scale",
        "/apis/apps/v1/namespaces/default/deployments/a/status",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/api/v1/namespaces/spare/finalize",
    ])
    .prop_map(str::to_owned);
    let part = "[a-z0-9%./-]{0,12}";
    let made = prop::collection::vec(part, 0..7).prop_map(|parts| format!("/{}", parts.join("/")));
    prop_oneof![3 => known, 1 => made]
}

fn content_types() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "application/json",
        "application/yaml",
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
        "text/plain",
    ])
}

/// JSON that has some sense for a Kubernetes server.
fn values() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let names = || {
        prop::sample::select(vec![
            "metadata",
            "spec",
            "data",
            "name",
            "labels",
            "finalizers",
            "template",
            "containers",
            "kind",
            "apiVersion",
            "status",
            "ownerReferences",
            "managedFields",
            "selector",
            "ports",
            "schema",
            "versions",
            "names",
            "group",
            "deletionTimestamp",
            "generateName",
            "op",
            "path",
        ])
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-zA-Z0-9./_-]{0,8}".prop_map(Value::from),
        Just(json!("v1")),
        Just(json!("ConfigMap")),
        Just(json!("/metadata/name")),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names(), inner, 0..5).prop_map(|map| {
                Value::Object(
                    map.into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(
        method in methods(),
        path in paths(),
        query in "[ -~]{0,30}",
        content_type in content_types(),
        accept in "[ -~]{0,40}",
        body in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let cluster = Cluster::new();
        let uri = format!("{path}?{}", query.replace(['#', ' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'], "%41"));
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::CONTENT_TYPE, content_type)
            .header(header::ACCEPT, accept)
            .body(Bytes::from(body));
        if let Ok(request) = request {
            answers(&cluster, request);
        }
    }

    #[test]
    fn any_json_is_answered(
        method in methods(),
        path in paths(),
        content_type in content_types(),
        bodies in prop::collection::vec(values(), 1..4),
    ) {
        let cluster = Cluster::new();
        for body in bodies {
            let request = Request::builder()
                .method(method)
                .uri(format!("{path}?fieldManager=m"))
                .header(header::CONTENT_TYPE, content_type)
                .body(Bytes::from(body.to_string()));
            if let Ok(request) = request {
                answers(&cluster, request);
            }
        }
    }

    #[test]
    fn any_selector_is_answered(label in "[ -~]{0,40}", field in "\\PC{0,40}", token in "[A-Za-z0-9_=-]{0,40}") {
        let cluster = Cluster::new();
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("labelSelector", &label)
            .append_pair("fieldSelector", &field)
            .append_pair("continue", &token)
            .finish();
        for path in ["/api/v1/pods", "/api/v1/configmaps", "/apis/events.k8s.io/v1/events"] {
            let request = Request::get(format!("{path}?{query}")).body(Bytes::new()).expect("a request");
            let code = answers(&cluster, request);
            prop_assert!([200, 400, 410, 422].contains(&code), "{code}");
        }
    }
}

#[test]
fn bodies_of_any_depth_are_answered() {
    let cluster = Cluster::new();
    let path = "/api/v1/namespaces/default/configmaps";
    for open in ["[", "{\"a\":", "- ", "a: {b: ["] {
        for content_type in ["application/json", "application/yaml"] {
            let request = Request::post(path)
                .header(header::CONTENT_TYPE, content_type)
                .body(Bytes::from(open.repeat(50_000)))
                .expect("a request");
            assert_eq!(answers(&cluster, request), 400, "{open} as {content_type}");
        }
    }
}
