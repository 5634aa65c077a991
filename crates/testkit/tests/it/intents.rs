//! What managers may want of an object: small pieces that overlap often.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The kinds that stories are generated for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    ConfigMap,
    Widget,
    Deployment,
    Service,
}

impl Kind {
    /// Its short name in scenarios.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Self::ConfigMap => "cm",
            Self::Widget => "widget",
            Self::Deployment => "deploy",
            Self::Service => "svc",
        }
    }

    pub(crate) fn definitions(self) -> Vec<String> {
        match self {
            Self::Widget => vec!["widget".into()],
            Self::ConfigMap | Self::Deployment | Self::Service => Vec::new(),
        }
    }

    /// Places that a JSON patch may remove.
    pub(crate) fn removable(self) -> Vec<&'static str> {
        match self {
            Self::ConfigMap => vec!["/data/a", "/data", "/metadata/labels/a"],
            Self::Widget => vec![
                "/spec/tags",
                "/spec/ports/0",
                "/spec/labels/a",
                "/spec/nested",
                "/spec",
            ],
            Self::Deployment => vec!["/spec/replicas", "/spec/template/spec/containers/0/env"],
            Self::Service => vec!["/spec/ports/0", "/spec/selector/a", "/spec/selector"],
        }
    }
}

/// Fields, each there or not.
fn object(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields = fields.into_iter().map(|(name, value)| {
        prop::option::of(value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    });
    let fields: Vec<_> = fields.map(Strategy::boxed).collect();
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>()))
        .boxed()
}

fn one_of(values: Vec<Value>) -> BoxedStrategy<Value> {
    prop::sample::select(values).boxed()
}

fn texts() -> BoxedStrategy<Value> {
    let text = || one_of(vec![json!("1"), json!("2")]);
    object(vec![("a", text()), ("b", text()), ("c", text())])
}

fn some_of(values: Vec<Value>) -> BoxedStrategy<Value> {
    let most = values.len();
    prop::sample::subsequence(values, 0..=most)
        .prop_map(Value::Array)
        .boxed()
}

fn metadata() -> BoxedStrategy<Value> {
    let some = || {
        texts()
            .prop_filter("not empty", |map| map != &json!({}))
            .boxed()
    };
    object(vec![("labels", some()), ("annotations", some())])
}

/// What a manager may want of an object of `kind`.
pub(crate) fn intent(kind: Kind) -> BoxedStrategy<Value> {
    let body = match kind {
        Kind::ConfigMap => object(vec![("data", texts())]),
        Kind::Widget => object(vec![("spec", widget())]),
        Kind::Deployment => deployment(),
        Kind::Service => service(),
    };
    (body, prop::option::weighted(0.3, metadata()))
        .prop_map(|(mut body, metadata)| {
            if let Some(metadata) = metadata {
                body["metadata"] = metadata;
            }
            body
        })
        .boxed()
}

fn widget() -> BoxedStrategy<Value> {
    let port = |port: u16| {
        let name = one_of(vec![json!("x"), json!("y")]);
        let protocol = one_of(vec![json!("TCP"), json!("UDP")]);
        object(vec![
            ("name", name),
            ("protocol", protocol),
            ("target", one_of(vec![json!(1), json!(2)])),
        ])
        .prop_map(move |mut fields| {
            fields["port"] = json!(port);
            fields
        })
    };
    let ports = (prop::option::of(port(1)), prop::option::of(port(2)))
        .prop_map(|(one, two)| one.into_iter().chain(two).collect::<Vec<_>>().into())
        .boxed();
    let deep = object(vec![
        ("x", one_of(vec![json!(1), json!(2)])),
        ("y", one_of(vec![json!(1)])),
    ]);
    let nested = object(vec![
        ("b", one_of(vec![json!("b1"), json!("b2")])),
        ("deep", deep),
    ])
    .prop_map(|mut fields| {
        fields["a"] = json!("a1");
        fields
    })
    .boxed();
    object(vec![
        ("replicas", one_of(vec![json!(1), json!(2)])),
        ("color", one_of(vec![json!("red"), json!("blue")])),
        ("tags", some_of(vec![json!("x"), json!("y"), json!("z")])),
        ("ports", ports),
        ("parts", some_of(vec![json!("p"), json!("q")])),
        ("labels", texts()),
        ("config", texts()),
        ("nested", nested),
        (
            "free",
            object(vec![
                ("list", some_of(vec![json!(1), json!(2)])),
                ("map", texts()),
            ]),
        ),
    ])
}

fn deployment() -> BoxedStrategy<Value> {
    let env = |name: &'static str| {
        one_of(vec![json!("1"), json!("2")])
            .prop_map(move |value| json!({"name": name, "value": value}))
    };
    let env = (prop::option::of(env("ONE")), prop::option::of(env("TWO")))
        .prop_map(|(one, two)| one.into_iter().chain(two).collect::<Vec<_>>().into())
        .boxed();
    let ports = some_of(vec![
        json!({"containerPort": 80}),
        json!({"containerPort": 80, "protocol": "UDP"}),
        json!({"containerPort": 81, "name": "web"}),
    ]);
    let container = |name: &'static str| {
        object(vec![("env", env.clone()), ("ports", ports.clone())]).prop_map(move |mut fields| {
            fields["name"] = json!(name);
            fields["image"] = json!("example.com/x:1");
            fields
        })
    };
    let replicas = prop::option::of(one_of(vec![json!(0), json!(1)]));
    (
        container("main"),
        prop::option::weighted(0.3, container("side")),
        replicas,
    )
        .prop_map(|(main, side, replicas)| {
            let containers: Vec<Value> = std::iter::once(main).chain(side).collect();
            let labels = json!({"app": "web"});
            let template =
                json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
            let mut spec = json!({"selector": {"matchLabels": labels}, "template": template});
            if let Some(replicas) = replicas {
                spec["replicas"] = replicas;
            }
            json!({ "spec": spec })
        })
        .boxed()
}

fn service() -> BoxedStrategy<Value> {
    let ports = prop::sample::subsequence(
        vec![
            json!({"name": "a", "port": 80}),
            json!({"name": "b", "port": 80, "protocol": "UDP"}),
            json!({"name": "c", "port": 81, "targetPort": "web"}),
        ],
        1..=3,
    );
    (ports, prop::option::of(texts()))
        .prop_map(|(ports, selector)| {
            let mut spec = json!({"clusterIP": "None", "ports": ports});
            if let Some(selector) = selector {
                spec["selector"] = selector;
            }
            json!({ "spec": spec })
        })
        .boxed()
}
