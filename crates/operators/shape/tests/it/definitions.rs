//! The definitions that are shipped are those of the code.

use std::path::Path;

use evenkeel_shape_operator::definitions;

#[test]
fn the_committed_definitions_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../deploy/crds/shapes.yaml");
    let committed = std::fs::read_to_string(&path).expect("deploy/crds/shapes.yaml");
    assert_eq!(
        committed,
        evenkeel_shape_operator::operator::definitions_text(),
        "run `evenkeel operator crds shape > deploy/crds/shapes.yaml`"
    );
}

#[test]
fn every_definition_has_columns_and_rules() {
    for definition in definitions() {
        let version = &definition.spec.versions[0];
        assert!(
            version
                .additional_printer_columns
                .as_ref()
                .is_some_and(|columns| columns.len() >= 4)
        );
        let text = serde_json::to_string(&version.schema).expect("a schema");
        assert!(text.contains("x-kubernetes-validations"), "{text}");
    }
}
