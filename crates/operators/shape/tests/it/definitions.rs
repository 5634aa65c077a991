//! What the definitions hold.

use evenkeel_shape_operator::definitions;

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
