//! The description of the API: looked at whenever it changes.

#[test]
fn the_document_is_the_one_that_was_looked_at() {
    let document = serde_json::to_value(evenkeel_broker::openapi()).unwrap();
    insta::assert_json_snapshot!("openapi", document);
}

#[test]
fn every_reference_leads_somewhere() {
    let document = serde_json::to_value(evenkeel_broker::openapi()).unwrap();
    let text = document.to_string();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let names = text.split("#/components/schemas/").skip(1);
    for name in names.map(|rest| rest.split('"').next().unwrap()) {
        assert!(schemas.contains_key(name), "{name}");
    }
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
}
