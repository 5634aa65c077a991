//! What becomes of tools.

use super::{AGENT, MODEL, document, file, simple_agent, translated, try_translate};

#[test]
fn agents_in_a_circle_or_too_deep_are_refused() {
    let using = |name: &str, other: &str| {
        AGENT.replace("name: a,", &format!("name: {name},")).replace(
            "SPEC",
            &format!("{{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, tools: [{{type: Agent, agent: {{name: {other}}}, isolateSessions: true}}]}}}}"),
        )
    };
    let model = MODEL.replace("SPEC", "{provider: OpenAI, model: g}");
    let circle = model.clone() + &using("a", "b") + &using("b", "a");
    let error = try_translate(&circle).expect_err("a circle");
    assert_eq!(error.reason(), "AgentCircle");
    assert_eq!(
        error.to_string(),
        "agents use each other in a circle: Agent n/a -> Agent n/b -> Agent n/a"
    );
    assert_eq!(
        try_translate(&(model.clone() + &using("a", "a")))
            .expect_err("itself")
            .reason(),
        "AgentCircle"
    );
    let chain = |length: usize| {
        let mut documents = model.clone() + &using("a", "x1");
        for number in 1..length {
            documents += &using(&format!("x{number}"), &format!("x{}", number + 1));
        }
        documents + &simple_agent().replace("name: a,", &format!("name: x{length},"))
    };
    let fine = translated(&chain(10));
    let tool = r#""remote_agents":[{"name":"n__NS__x1","url":"http://x1.n:8080","isolate_sessions":true}]"#;
    assert!(file(&fine, "config.json").contains(tool));
    assert_eq!(
        try_translate(&chain(11)).expect_err("too deep").reason(),
        "AgentChainTooDeep"
    );
}

#[test]
fn requests_go_by_way_of_the_proxy_inside_the_cluster_only() {
    let golden = "\
targetObject: a
namespace: 'n'
proxyURL: http://gate:9
objects:
- {apiVersion: kagent.dev/v1alpha2, kind: ModelConfig, metadata: {name: m, namespace: n}, spec: {provider: OpenAI, model: g}}
- {apiVersion: kagent.dev/v1alpha2, kind: RemoteMCPServer, metadata: {name: inside, namespace: n}, spec: {description: d, url: 'http://t.tools:80/p?q=1', protocol: SSE, timeout: 1500ms, terminateOnClose: false}}
- {apiVersion: kagent.dev/v1alpha2, kind: RemoteMCPServer, metadata: {name: outside, namespace: n}, spec: {description: d, url: 'https://a.b.example/p', terminateOnClose: false}}
- {apiVersion: v1, kind: Service, metadata: {name: s, namespace: n}, spec: {ports: [{port: 1}, {port: 2, appProtocol: MCP}]}}
- {apiVersion: kagent.dev/v1alpha2, kind: Agent, metadata: {name: b, namespace: n}, spec: {type: BYO, description: d, byo: {deployment: {image: i}}}}
- apiVersion: kagent.dev/v1alpha2
  kind: Agent
  metadata: {name: a, namespace: n}
  spec:
    type: Declarative
    declarative:
      systemMessage: hi
      modelConfig: m
      tools:
      - {mcpServer: {name: inside, kind: RemoteMCPServer, toolNames: [x], allowedHeaders: [h]}}
      - {mcpServer: {name: outside, kind: RemoteMCPServer}}
      - {mcpServer: {name: s, kind: Service}}
      - {agent: {name: b}}
";
    let translation = translated(golden);
    let config = file(&translation, "config.json");
    let tools = r#""http_tools":[{"params":{"url":"https://a.b.example/p","headers":{},"terminate_on_close":false}},{"params":{"url":"http://gate:9/mcp","headers":{"x-kagent-host":"s.n"}}}],"sse_tools":[{"params":{"url":"http://gate:9/p","headers":{"x-kagent-host":"t.tools"},"timeout":1.5},"tools":["x"],"allowed_headers":["h"]}],"remote_agents":[{"name":"n__NS__b","url":"http://gate:9","headers":{"x-kagent-host":"b.n"},"description":"d"}]"#;
    assert!(config.contains(tools), "{config}");
}

const PLAIN: &str = "{provider: OpenAI, model: g}";

/// The tools of an agent, as its pods read them; `more` are further documents.
fn tools(tools: &str, more: &str) -> Result<String, String> {
    let agent = AGENT.replace(
        "SPEC",
        &format!("{{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, tools: [{tools}]}}}}"),
    );
    let translated = try_translate(&(MODEL.replace("SPEC", PLAIN) + more + &agent));
    let translated = translated.map_err(|error| error.to_string())?;
    let config = file(&translated, "config.json").to_owned();
    let (_, rest) = config
        .split_once(r#""instruction":"hi","#)
        .expect("an instruction");
    let (tools, _) = rest.split_once(r#","stream""#).expect("a stream");
    Ok(tools.to_owned())
}

#[test]
fn servers_are_found_however_their_kind_is_spelt() {
    let servers = document("MCPServer", "s", "spec: {deployment: {port: 3000}}")
        + &document(
            "RemoteMCPServer",
            "s",
            "spec: {description: d, url: 'http://u/x'}",
        )
        + &document("Service", "s", "spec: {ports: [{port: 8}]}");
    let found =
        |reference: &str| tools(&format!("{{mcpServer: {{name: s{reference}}}}}"), &servers);
    let run =
        r#""http_tools":[{"params":{"url":"http://s.n:3000/mcp","headers":{},"timeout":30}}]"#;
    for reference in [
        "",
        ", kind: MCPServer",
        ", kind: MCPServer, apiGroup: kagent.dev",
    ] {
        assert_eq!(found(reference).as_deref(), Ok(run), "{reference}");
    }
    let remote = r#""http_tools":[{"params":{"url":"http://u/x","headers":{}}}]"#;
    for reference in [
        ", kind: RemoteMCPServer",
        ", kind: RemoteMCPServer, apiGroup: kagent.dev",
    ] {
        assert_eq!(found(reference).as_deref(), Ok(remote), "{reference}");
    }
    let served = r#""http_tools":[{"params":{"url":"http://s.n:8/mcp","headers":{}}}]"#;
    for reference in [", kind: Service", ", kind: Service, apiGroup: core"] {
        assert_eq!(found(reference).as_deref(), Ok(served), "{reference}");
    }
    for reference in [
        ", apiGroup: kagent.dev",
        ", kind: Service, apiGroup: apps",
        ", kind: RemoteMCPServer, apiGroup: x.y",
    ] {
        let said = found(reference).expect_err(reference);
        assert!(said.contains("is not known"), "{said}");
    }
}

#[test]
fn a_service_says_in_annotations_where_it_serves() {
    let at = |annotations: &str, ports: &str| {
        let service = document("Service", "s", &format!("spec: {{ports: {ports}}}"))
            .replace("name: s,", &format!("name: s, annotations: {annotations},"));
        tools("{mcpServer: {name: s, kind: Service}}", &service)
    };
    let http = |url: &str| {
        Ok(format!(
            r#""http_tools":[{{"params":{{"url":"{url}","headers":{{}}}}}}]"#
        ))
    };
    let two = "[{name: a, port: 1}, {name: b, port: 2, appProtocol: mcp}]";
    assert_eq!(at("{}", two), http("http://s.n:2/mcp"));
    assert_eq!(
        at(
            "{kagent.dev/mcp-service-port: '9', kagent.dev/mcp-service-path: /p}",
            two
        ),
        http("http://s.n:9/p")
    );
    assert_eq!(
        at("{kagent.dev/mcp-service-protocol: sse}", "[{port: 1}]"),
        http("http://s.n:1/mcp"),
        "only capital letters are understood"
    );
    let sse = r#""sse_tools":[{"params":{"url":"http://s.n:1/mcp","headers":{}}}]"#;
    assert_eq!(
        at("{kagent.dev/mcp-service-protocol: SSE}", "[{port: 1}]").as_deref(),
        Ok(sse)
    );
    assert!(at("{}", "[{name: a, port: 1}, {name: b, port: 2}]").is_err());
    assert!(at("{kagent.dev/mcp-service-port: x}", two).is_err());
}

/// Those of the server are looked up where the server is, those of the tool where the agent is;
/// the tool's win.
#[test]
fn headers_come_from_the_server_and_from_the_tool() {
    let server = document(
        "RemoteMCPServer",
        "s",
        "spec: {description: d, url: 'https://u', timeout: 1m30s, sseReadTimeout: 5m, terminateOnClose: true, tls: {disableVerify: true}, \
         headersFrom: [{name: A, value: server}, {name: B, valueFrom: {type: Secret, name: keys, key: k}}]}",
    );
    let tool = "{mcpServer: {name: s, kind: RemoteMCPServer, toolNames: [y, x], allowedHeaders: [h], requireApproval: [x]}, \
                headersFrom: [{name: A, value: tool}]}";
    let wanted = r#""http_tools":[{"params":{"url":"https://u","headers":{"A":"tool","B":"v"},"timeout":90,"sse_read_timeout":300,"terminate_on_close":true,"tls_insecure_skip_verify":true,"tls_disable_system_cas":false},"tools":["y","x"],"allowed_headers":["h"],"require_approval":["x"]}]"#;
    assert_eq!(tools(tool, &server).as_deref(), Ok(wanted));
    let streamed = wanted
        .replace("http_tools", "sse_tools")
        .replace(r#""terminate_on_close":true,"#, "");
    let sse = server.replace("url:", "protocol: SSE, url:");
    assert_eq!(tools(tool, &sse).as_deref(), Ok(streamed.as_str()));
}

/// The path goes along, the question does not; the host is told without its port.
#[test]
fn a_proxy_is_told_whom_a_request_is_for() {
    let through = |kind: &str, spec: &str, tool: &str| {
        let golden = format!(
            "targetObject: a\nnamespace: 'n'\nproxyURL: https://gate.x/ignored\nobjects:\n\
             - {{apiVersion: kagent.dev/v1alpha2, kind: ModelConfig, metadata: {{name: m, namespace: n}}, spec: {PLAIN}}}\n\
             - {{apiVersion: {kind}, metadata: {{name: s, namespace: n}}, spec: {spec}}}\n\
             - {{apiVersion: kagent.dev/v1alpha2, kind: Agent, metadata: {{name: a, namespace: n}}, spec: {{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, tools: [{tool}]}}}}}}\n"
        );
        let config = file(&translated(&golden), "config.json").to_owned();
        let (_, rest) = config.split_once(r#""url":""#).expect("an address");
        let (url, rest) = rest.split_once('"').expect("an end");
        let host = rest
            .split_once(r#""x-kagent-host":""#)
            .map(|(_, rest)| rest);
        let host = host
            .and_then(|rest| rest.split_once('"'))
            .map(|(host, _)| host.to_owned());
        (url.to_owned(), host)
    };
    let gate = |path: &str, host: &str| (format!("https://gate.x{path}"), Some(host.to_owned()));
    let remote = |url: &str| {
        let spec = format!("{{description: d, url: '{url}'}}");
        let kind = "kagent.dev/v1alpha2, kind: RemoteMCPServer";
        through(kind, &spec, "{mcpServer: {name: s, kind: RemoteMCPServer}}")
    };
    let run = through(
        "kagent.dev/v1alpha1, kind: MCPServer",
        "{deployment: {port: 3000}, timeout: 45s}",
        "{mcpServer: {name: s}}",
    );
    assert_eq!(run, gate("/mcp", "s.n"));
    assert_eq!(
        remote("http://t.ns.svc.cluster.local:9/p?q=1"),
        gate("/p", "t.ns.svc.cluster.local")
    );
    assert_eq!(remote("http://t.ns:9"), gate("", "t.ns"));
    assert_eq!(
        remote("https://api.example.com/mcp?q=1"),
        ("https://api.example.com/mcp?q=1".to_owned(), None)
    );
    assert_eq!(
        remote("http://localhost:1/x"),
        ("http://localhost:1/x".to_owned(), None)
    );
    let agent = through(
        "kagent.dev/v1alpha2, kind: Agent",
        "{type: BYO, byo: {deployment: {image: i}}}",
        "{agent: {name: s}, isolateSessions: true}",
    );
    assert_eq!(agent, gate("", "s.n"));
}

/// Those that kagent runs in a sandbox are reached by way of its controller.
#[test]
fn an_agent_in_a_sandbox_is_a_tool_too() {
    let boxed = document(
        "SandboxAgent",
        "my-box",
        "spec: {type: BYO, description: d, byo: {deployment: {image: i}}}",
    );
    let wanted = r#""remote_agents":[{"name":"n__NS__my_box","url":"http://kagent-controller.kagent:8083/api/a2a-sandboxes/n/my-box","description":"d"}]"#;
    let tool = "{type: Agent, agent: {name: my-box, kind: SandboxAgent}}";
    assert_eq!(tools(tool, &boxed).as_deref(), Ok(wanted));
    let missing = tools(tool, "").expect_err("nobody");
    assert_eq!(missing, "SandboxAgent n/my-box does not exist");
    assert!(tools("{agent: {name: x, kind: Pod}}", "").is_err());
    assert!(tools("{type: Agent}", "").is_err());
}
