//! How agents introduce themselves, and what they cannot do without.

use super::{AGENT, MODEL, file, simple_agent, translated, try_translate};

#[test]
fn cards_show_who_provides_an_agent() {
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, description: '<b>', version: v1, iconUrl: 'http://i', documentationUrl: 'http://d', provider: {organization: o, url: 'http://p'}, declarative: {systemMessage: hi, modelConfig: m, a2aConfig: {skills: [{id: s, name: S, tags: [t], examples: [e], inputModes: [i]}]}}}",
    );
    let translation = translated(&(MODEL.replace("SPEC", "{provider: OpenAI, model: g}") + &agent));
    let card = file(&translation, "agent-card.json");
    let start = "{\n  \"defaultInputModes\": [\n    \"text\"\n  ],\n  \"defaultOutputModes\": [\n    \"text\"\n  ],\n  \"description\": \"\\u003cb\\u003e\",\n  \"documentationUrl\": \"http://d\",\n  \"iconUrl\": \"http://i\",\n  \"name\": \"a\",\n  \"provider\": {\n    \"organization\": \"o\",\n    \"url\": \"http://p\"\n  },\n  \"version\": \"v1\",\n  \"skills\": [\n    {\n      \"description\": \"\",\n      \"examples\": [\n        \"e\"\n      ],\n      \"id\": \"s\",\n      \"inputModes\": [\n        \"i\"\n      ],\n      \"name\": \"S\",\n      \"tags\": [\n        \"t\"\n      ]\n    }\n  ],\n  \"capabilities\"";
    assert!(card.starts_with(start), "{card}");
}

#[test]
fn the_default_model_works_and_missing_parts_are_named() {
    let model = MODEL
        .replace("SPEC", "{provider: OpenAI, model: g}")
        .replace("name: m,", "name: default-model-config,");
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi}}",
    );
    translated(&(model + &agent));
    let said = |documents: &str| try_translate(documents).expect_err(documents).to_string();
    assert_eq!(said(&simple_agent()), "ModelConfig n/m does not exist");
    let model = MODEL.replace("SPEC", "{provider: OpenAI, model: g}");
    let silent = AGENT.replace("SPEC", "{type: Declarative, declarative: {modelConfig: m}}");
    assert_eq!(
        said(&(model.clone() + &silent)),
        "systemMessage or systemMessageFrom must be set"
    );
    let keyless = AGENT.replace("SPEC", "{type: Declarative, declarative: {modelConfig: m, systemMessageFrom: {type: Secret, name: keys, key: none}}}");
    assert_eq!(
        said(&(model.clone() + &keyless)),
        "Secret n/keys has no key \"none\""
    );
    let odd = AGENT.replace("SPEC", "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m, tools: [{type: McpServer, mcpServer: {name: x, kind: Pod}}]}}");
    assert_eq!(
        said(&(model + &odd)),
        "tool server type \"Pod\" is not known"
    );
}
