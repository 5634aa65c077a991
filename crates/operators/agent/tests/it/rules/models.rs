//! What becomes of models.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    AGENT, MODEL, document, file, model_becomes, object, pod, simple_agent, translated,
    try_translate, variables, volumes, with_model,
};

#[test]
fn every_provider_has_its_configuration_and_variables() {
    model_becomes(
        "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, openAI: {organization: o, maxCompletionTokens: 5, n: 2, seed: 0, timeout: 9, frequencyPenalty: '0.5', presencePenalty: '1'}}",
        r#"{"type":"openai","model":"g","base_url":"","frequency_penalty":0.5,"max_completion_tokens":5,"n":2,"presence_penalty":1,"seed":0,"timeout":9}"#,
        &["OPENAI_API_KEY<-keys/k", "OPENAI_ORGANIZATION=o"],
    );
    model_becomes(
        "{provider: Anthropic, model: c, apiKeyPassthrough: true, anthropic: {baseUrl: 'https://a?x=1&y'}}",
        r#"{"type":"anthropic","model":"c","api_key_passthrough":true,"base_url":"https://a?x=1\u0026y"}"#,
        &[],
    );
    model_becomes(
        "{provider: AzureOpenAI, model: ignored, apiKeySecret: keys, apiKeySecretKey: k, azureOpenAI: {azureEndpoint: e, apiVersion: v, azureDeployment: d, azureAdToken: t, maxTokens: 3}}",
        r#"{"type":"azure_openai","model":"d","max_tokens":3}"#,
        &[
            "AZURE_OPENAI_API_KEY<-keys/k",
            "AZURE_AD_TOKEN=t",
            "OPENAI_API_VERSION=v",
            "AZURE_OPENAI_ENDPOINT=e",
        ],
    );
    model_becomes(
        "{provider: Ollama, model: l, ollama: {host: 'h:1'}}",
        r#"{"type":"ollama","model":"l"}"#,
        &["OLLAMA_API_BASE=http://h:1"],
    );
    model_becomes(
        "{provider: Gemini, model: g}",
        r#"{"type":"gemini","model":"g"}"#,
        &["GOOGLE_API_KEY<-/"],
    );
    model_becomes(
        "{provider: GeminiVertexAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, geminiVertexAI: {projectID: p, location: l}}",
        r#"{"type":"gemini_vertex_ai","model":"g"}"#,
        &[
            "GOOGLE_CLOUD_PROJECT=p",
            "GOOGLE_CLOUD_LOCATION=l",
            "GOOGLE_GENAI_USE_VERTEXAI=true",
            "GOOGLE_APPLICATION_CREDENTIALS=/creds/k",
        ],
    );
    model_becomes(
        "{provider: AnthropicVertexAI, model: g, anthropicVertexAI: {projectID: p, location: l}}",
        r#"{"type":"gemini_anthropic","model":"g"}"#,
        &["GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=l"],
    );
    model_becomes(
        "{provider: Bedrock, model: b, bedrock: {region: r, additionalModelRequestFields: {z: 5, a: {n: 16000}}, promptCaching: true, cacheTTL: 5m}}",
        r#"{"type":"bedrock","model":"b","region":"r","additional_model_request_fields":{"a":{"n":16000},"z":5},"prompt_caching":true,"cache_ttl":"5m"}"#,
        &["AWS_REGION=r"],
    );
    model_becomes(
        "{provider: SAPAICore, model: s, apiKeySecret: keys, sapAICore: {baseUrl: b, resourceGroup: g, authUrl: u}}",
        r#"{"type":"sap_ai_core","model":"s","base_url":"b","resource_group":"g","auth_url":"u"}"#,
        &[
            "SAP_AI_CORE_CLIENT_ID<-keys/client_id",
            "SAP_AI_CORE_CLIENT_SECRET<-keys/client_secret",
        ],
    );
    model_becomes(
        "{provider: Foundry, model: f, apiKeySecret: keys, apiKeySecretKey: k, foundry: {endpoint: e, deployment: d, apiVersion: v}}",
        r#"{"type":"foundry","model":"f","endpoint":"e","deployment":"d","api_version":"v"}"#,
        &[
            "FOUNDRY_API_KEY<-keys/k",
            "FOUNDRY_ENDPOINT=e",
            "FOUNDRY_DEPLOYMENT=d",
            "FOUNDRY_API_VERSION=v",
        ],
    );
}

#[test]
fn bedrock_prefers_a_bearer_token() {
    let spec = "{provider: Bedrock, model: b, apiKeySecret: aws, bedrock: {region: r}}";
    let with = |keys: &str| {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: aws, namespace: n}}\nstringData: {keys}\n---\n"
        );
        let documents = MODEL.replace("SPEC", spec) + &secret + &simple_agent();
        variables(&translated(&documents))[1..].to_vec()
    };
    assert_eq!(
        with("{AWS_BEARER_TOKEN_BEDROCK: t, AWS_ACCESS_KEY_ID: a}"),
        ["AWS_BEARER_TOKEN_BEDROCK<-aws/AWS_BEARER_TOKEN_BEDROCK"]
    );
    assert_eq!(
        with("{AWS_ACCESS_KEY_ID: a, AWS_SECRET_ACCESS_KEY: b, AWS_SESSION_TOKEN: c}"),
        [
            "AWS_ACCESS_KEY_ID<-aws/AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY<-aws/AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN<-aws/AWS_SESSION_TOKEN"
        ]
    );
}

#[test]
fn authorities_are_mounted_and_token_exchange_reads_a_file() {
    let translation = with_model(
        "{provider: OpenAI, model: g, tls: {caCertSecretRef: corp, caCertSecretKey: ca.crt, disableSystemCAs: true}}",
    );
    let config = file(&translation, "config.json");
    let fields = r#""tls_insecure_skip_verify":false,"tls_ca_cert_path":"/etc/ssl/certs/custom/corp/ca.crt","tls_disable_system_cas":true,"base_url":"""#;
    assert!(config.contains(fields), "{config}");
    let pod = pod(&translation);
    let volume =
        json!({"name": "tls-ca-corp", "secret": {"secretName": "corp", "defaultMode": 292}});
    assert_eq!(pod["volumes"][1], volume);
    let mount =
        json!({"name": "tls-ca-corp", "mountPath": "/etc/ssl/certs/custom/corp", "readOnly": true});
    assert_eq!(pod["containers"][0]["volumeMounts"][1], mount);

    let translation = with_model(
        "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k, openAI: {tokenExchange: {type: GDCHServiceAccount, gdchServiceAccount: {audience: aud}}}}",
    );
    let exchange = r#""token_exchange":{"type":"GDCHServiceAccount","gdch_service_account":{"service_account_path":"/gdch-creds/k","audience":"aud"}}"#;
    assert!(file(&translation, "config.json").contains(exchange));
    assert!(variables(&translation).is_empty());
}

#[test]
fn memory_compaction_and_sharing_follow_their_order() {
    let models = MODEL.replace("SPEC", "{provider: OpenAI, model: g, apiKeySecret: keys, apiKeySecretKey: k}")
        + "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: v, namespace: n}
spec: {provider: GeminiVertexAI, model: e, apiKeySecret: google, apiKeySecretKey: c, geminiVertexAI: {projectID: p, location: l}}
---
";
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, sandbox: {network: {allowedDomains: [a.b]}}, declarative: {systemMessage: hi, modelConfig: m, stream: true, shareTools: true, executeCodeBlocks: false, memory: {modelConfig: v, ttlDays: 7}, context: {compaction: {compactionInterval: 3, overlapSize: 0, tokenThreshold: 9, summarizer: {modelConfig: m, promptTemplate: sum}}}}}",
    );
    let translation = translated(&(models + &agent));
    let wanted = r#"{"model":{"type":"openai","model":"g","base_url":""},"description":"","instruction":"hi","execute_code":false,"stream":true,"memory":{"ttl_days":7,"embedding":{"provider":"gemini_vertex_ai","model":"e"}},"network":{"allowed_domains":["a.b"]},"context_config":{"compaction":{"compaction_interval":3,"overlap_size":0,"summarizer_model":{"type":"openai","model":"g","base_url":""},"prompt_template":"sum","token_threshold":9}},"share_tools":true}"#;
    assert_eq!(file(&translation, "config.json"), wanted);
    let env = variables(&translation);
    assert_eq!(env[0], "OPENAI_API_KEY<-keys/k");
    assert_eq!(env[4], "GOOGLE_APPLICATION_CREDENTIALS=/creds/c");
    assert_eq!(pod(&translation)["volumes"][1]["name"], "google-creds");
}

/// The rest of each provider's block, which names no more than it must.
const PROVIDERS: [(&str, &str, &str); 10] = [
    ("OpenAI", "openai", ""),
    ("Anthropic", "anthropic", ""),
    (
        "AzureOpenAI",
        "azure_openai",
        "azureOpenAI: {azureEndpoint: e, apiVersion: v, azureDeployment: x}",
    ),
    ("Ollama", "ollama", "ollama: {host: 'https://h'}"),
    ("Gemini", "gemini", ""),
    (
        "GeminiVertexAI",
        "gemini_vertex_ai",
        "geminiVertexAI: {projectID: p, location: l}",
    ),
    (
        "AnthropicVertexAI",
        "gemini_anthropic",
        "anthropicVertexAI: {projectID: p, location: l}",
    ),
    ("Bedrock", "bedrock", "bedrock: {region: r}"),
    ("SAPAICore", "sap_ai_core", "sapAICore: {baseUrl: b}"),
    (
        "Foundry",
        "foundry",
        "foundry: {endpoint: e, deployment: x, apiVersion: v}",
    ),
];

/// Headers, then how certificates are checked, then passing on keys, then the provider's own: in
/// this order for all.
#[test]
fn what_all_providers_have_comes_first_and_in_order() {
    for (provider, word, own) in PROVIDERS {
        let spec = format!(
            "{{provider: {provider}, model: x, defaultHeaders: {{b: '2', a: '1'}}, tls: {{disableVerify: true}}, apiKeyPassthrough: true, {own}}}"
        );
        let translation = with_model(&spec);
        let passes = match provider {
            "Gemini" | "Foundry" => "",
            _ => r#","api_key_passthrough":true"#,
        };
        let start = format!(
            r#"{{"model":{{"type":"{word}","model":"x","headers":{{"a":"1","b":"2"}},"tls_insecure_skip_verify":true,"tls_disable_system_cas":false{passes}"#
        );
        let config = file(&translation, "config.json");
        assert!(config.starts_with(&start), "{provider}: {config}");
    }
}

#[test]
fn a_key_that_is_passed_through_is_not_handed_to_the_pods() {
    for (provider, _, own) in PROVIDERS {
        let key = "apiKeySecret: keys, apiKeySecretKey: k";
        let count = |more: &str| {
            let spec = format!("{{provider: {provider}, model: x, {key}, {own}{more}}}");
            let all = variables(&with_model(&spec)).into_iter();
            all.filter(|variable| variable.contains("<-keys/")).count()
        };
        let comma = if own.is_empty() { "" } else { ", " };
        let passed = count(&format!("{comma}apiKeyPassthrough: true"));
        // Those for whom kagent does not know how to pass a key on keep it.
        let keeps = matches!(provider, "Gemini" | "Foundry");
        assert_eq!(passed, usize::from(keeps), "{provider}");
        let mounts = matches!(provider, "Ollama" | "GeminiVertexAI" | "AnthropicVertexAI");
        assert_eq!(count("") > 0, !mounts, "{provider}");
    }
}

/// A block that says nothing is as good as none; each of its fields alone is not.
#[test]
fn a_block_about_certificates_counts_if_it_says_something() {
    let config = |tls: &str| {
        let spec = format!("{{provider: OpenAI, model: x, tls: {tls}}}");
        let translation = with_model(&spec);
        let text = file(&translation, "config.json");
        let end = text.find(r#","base_url""#).expect("a base_url");
        (
            text[r#"{"model":{"type":"openai","model":"x""#.len()..end].to_owned(),
            volumes(&translation).len(),
        )
    };
    let none = (String::new(), 2);
    assert_eq!(config("{}"), none);
    assert_eq!(
        config("{disableVerify: false, disableSystemCAs: false}"),
        none
    );
    let only = r#","tls_insecure_skip_verify":false,"tls_disable_system_cas":true"#;
    assert_eq!(config("{disableSystemCAs: true}"), (only.to_owned(), 2));
    let named = r#","tls_insecure_skip_verify":false,"tls_disable_system_cas":false"#;
    assert_eq!(config("{caCertSecretRef: corp}"), (named.to_owned(), 2));
    let mounted = r#","tls_insecure_skip_verify":true,"tls_ca_cert_path":"/etc/ssl/certs/custom/corp/ca.crt","tls_disable_system_cas":false"#;
    let both = "{caCertSecretRef: corp, caCertSecretKey: ca.crt, disableVerify: true}";
    assert_eq!(config(both), (mounted.to_owned(), 3));
}

#[test]
fn every_provider_can_make_vectors_and_adds_what_its_pods_need() {
    let embeddings = [
        ("OpenAI", r#"{"provider":"openai","model":"x"}"#),
        ("Anthropic", r#"{"provider":"anthropic","model":"x"}"#),
        ("AzureOpenAI", r#"{"provider":"azure_openai","model":"x"}"#),
        ("Ollama", r#"{"provider":"ollama","model":"x"}"#),
        ("Gemini", r#"{"provider":"gemini","model":"x"}"#),
        (
            "GeminiVertexAI",
            r#"{"provider":"gemini_vertex_ai","model":"x"}"#,
        ),
        (
            "AnthropicVertexAI",
            r#"{"provider":"gemini_anthropic","model":"x"}"#,
        ),
        ("Bedrock", r#"{"provider":"bedrock","model":"x"}"#),
        (
            "SAPAICore",
            r#"{"provider":"sap_ai_core","model":"x","base_url":"b"}"#,
        ),
        (
            "Foundry",
            r#"{"provider":"foundry","model":"x","endpoint":"e","deployment":"x","api_version":"v"}"#,
        ),
    ];
    for ((provider, _, own), (_, wanted)) in PROVIDERS.into_iter().zip(embeddings) {
        let spec = format!("spec: {{provider: {provider}, model: x, {own}}}");
        let agent = AGENT.replace(
            "SPEC",
            "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m, memory: {modelConfig: v}}}",
        );
        let documents = MODEL.replace("SPEC", "{provider: OpenAI, model: g}")
            + &document("ModelConfig", "v", &spec)
            + &agent;
        let config = file(&translated(&documents), "config.json").to_owned();
        let memory = format!(r#""memory":{{"embedding":{wanted}}}"#);
        assert!(config.contains(&memory), "{provider}: {config}");
    }
    let passed = "spec: {provider: OpenAI, model: x, apiKeyPassthrough: true, openAI: {baseUrl: 'http://u'}}";
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi, modelConfig: v, memory: {modelConfig: v, ttlDays: 3}}}",
    );
    let config = file(
        &translated(&(document("ModelConfig", "v", passed) + &agent)),
        "config.json",
    )
    .to_owned();
    let wanted = r#""memory":{"ttl_days":3,"embedding":{"provider":"openai","model":"x","base_url":"http://u","api_key_passthrough":true}}"#;
    assert!(config.contains(wanted), "{config}");
}

#[test]
fn further_models_add_variables_and_the_first_of_a_name_stays() {
    let key = |secret: &str| {
        format!("spec: {{provider: OpenAI, model: x, apiKeySecret: {secret}, apiKeySecretKey: k}}")
    };
    let claude = "spec: {provider: Anthropic, model: y, apiKeySecret: two, apiKeySecretKey: k}";
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi, modelConfig: main, memory: {modelConfig: vectors}, context: {compaction: {summarizer: {modelConfig: claude}}}}}",
    );
    let documents = document("ModelConfig", "main", &key("one"))
        + &document("ModelConfig", "vectors", &key("three"))
        + &document("ModelConfig", "claude", claude)
        + &agent;
    assert_eq!(
        variables(&translated(&documents)),
        ["OPENAI_API_KEY<-one/k", "ANTHROPIC_API_KEY<-two/k"]
    );
}

#[test]
fn what_came_with_kagent_0_10_is_handed_on() {
    model_becomes(
        "{provider: Gemini, model: g, apiKeySecret: keys, apiKeySecretKey: k, gemini: {maxOutputTokens: 9}}",
        r#"{"type":"gemini","model":"g","max_output_tokens":9}"#,
        &["GOOGLE_API_KEY<-keys/k"],
    );
    let vertex = with_model(
        "{provider: GeminiVertexAI, model: g, geminiVertexAI: {projectID: p, location: l, maxOutputTokens: 7}}",
    );
    assert!(file(&vertex, "config.json").contains(r#""model":"g","max_output_tokens":7}"#));
    model_becomes(
        "{provider: Bedrock, model: b, bedrock: {region: r, guardrail: {identifier: i, version: '1', trace: enabled}, readTimeout: 60, connectTimeout: 5}}",
        r#"{"type":"bedrock","model":"b","region":"r","guardrail":{"identifier":"i","version":"1","trace":"enabled"},"read_timeout":60,"connect_timeout":5}"#,
        &["AWS_REGION=r"],
    );
    model_becomes(
        "{provider: OpenAI, model: g, openAI: {baseUrl: 'http://u', maxTokens: 5, temperature: '0.25', topP: '1', reasoningEffort: none}}",
        r#"{"type":"openai","model":"g","base_url":"http://u","max_tokens":5,"reasoning_effort":"none","temperature":0.25,"top_p":1}"#,
        &[],
    );
    model_becomes(
        "{provider: Anthropic, model: c, anthropic: {maxTokens: 4, temperature: '0.5', topP: '0.75', topK: 2}}",
        r#"{"type":"anthropic","model":"c","max_tokens":4,"temperature":0.5,"top_p":0.75,"top_k":2}"#,
        &[],
    );
    model_becomes(
        "{provider: AzureOpenAI, model: i, azureOpenAI: {azureEndpoint: e, apiVersion: v, temperature: '0.5', topP: '1'}}",
        r#"{"type":"azure_openai","model":"","temperature":0.5,"top_p":1}"#,
        &["OPENAI_API_VERSION=v", "AZURE_OPENAI_ENDPOINT=e"],
    );
}

#[test]
fn a_foundry_s_address_may_be_written_in_a_config_map() {
    let foundry = "{provider: Foundry, model: f, foundry: {deployment: d, apiVersion: v, endpointFrom: {name: place, key: KEY}}}";
    let documents = |key: &str| {
        MODEL.replace("SPEC", &foundry.replace("KEY", key))
            + &document("ConfigMap", "place", "data: {url: 'https://f', empty: ''}")
            + &simple_agent()
    };
    let found = translated(&documents("url"));
    assert_eq!(variables(&found)[0], "FOUNDRY_ENDPOINT=https://f");
    let missing = try_translate(&documents("none")).expect_err("no key");
    assert_eq!(missing.reason(), "ConfigMapKeyMissing");
    assert_eq!(
        try_translate(&documents("empty"))
            .expect_err("empty")
            .reason(),
        "InvalidSpec"
    );
}

/// The bytes of the files, then the hashes of Secrets in the order in which they are met, then the
/// files for code and skills.
#[test]
fn the_hash_is_of_all_that_pods_read_in_this_order() {
    let hash = |byte: &str| format!("status: {{secretHash: '{}'}}", byte.repeat(32));
    let model = |byte: &str| {
        format!(
            "spec: {{provider: Ollama, model: x, ollama: {{host: h}}}}\n{}",
            hash(byte)
        )
    };
    let server = format!(
        "spec: {{description: d, url: 'http://u/mcp'}}\n{}",
        hash("dd")
    );
    let agent = AGENT.replace(
        "SPEC",
        "{type: Declarative, skills: {refs: ['r/s:1']}, declarative: {systemMessage: hi, modelConfig: a, executeCodeBlocks: true, memory: {modelConfig: c}, context: {compaction: {summarizer: {modelConfig: b}}}, tools: [{mcpServer: {name: s, kind: RemoteMCPServer}}]}}",
    );
    let documents = document("ModelConfig", "a", &model("aa"))
        + &document("ModelConfig", "b", &model("bb"))
        + &document("ModelConfig", "c", &model("cc"))
        + &document("RemoteMCPServer", "s", &server)
        + &agent;
    let translation = translated(&documents);
    let skills = object(&translation, "ConfigMap")["data"]["config.json"].clone();
    let mut hasher = Sha256::new();
    hasher.update(file(&translation, "config.json"));
    hasher.update(file(&translation, "agent-card.json"));
    for byte in [0xaa, 0xbb, 0xcc, 0xdd] {
        hasher.update([byte; 32]);
    }
    hasher.update(file(&translation, "srt-settings.json"));
    hasher.update(skills.as_str().expect("text"));
    let digest = hasher.finalize();
    let first: [u8; 8] = digest[..8].try_into().expect("eight bytes");
    assert_eq!(translation.hash(), u64::from_be_bytes(first).to_string());
}
