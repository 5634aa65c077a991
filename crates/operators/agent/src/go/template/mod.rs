//! Templates as Go's `text/template` reads them: text with actions in double braces.
//!
//! ```text
//! text ──lex──▶ pieces ──parse──▶ nodes ──run(data, include)──▶ text
//! ```
//!
//! What prompts need is here: fields, variables, pipelines, `if`, `range`, `with`, `define`,
//! `template`, trimming and the functions for logic, comparison and printing. Anything else is an
//! error that names it.

mod functions;
mod lex;
mod parse;
mod run;
mod value;

pub(crate) use value::Value;

/// Why a template has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// It is not a template.
    #[error("line {line}: {problem}")]
    Syntax {
        /// Where, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// It cannot be carried out.
    #[error("{0}")]
    Run(String),
}

/// Carries a template out on `data`; `include` finds text by its name.
pub(crate) fn render(
    text: &str,
    data: &Value,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<String, TemplateError> {
    let template = parse::parse(text)?;
    run::run(&template, data, include)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Value {
        let names = ["get", "list"].map(|name| Value::Text(name.to_owned()));
        Value::Record(
            [
                ("Name", Value::Text("bot".to_owned())),
                ("Tools", Value::List(names.to_vec())),
                ("None", Value::List(vec![])),
            ]
            .into(),
        )
    }

    fn rendered(text: &str) -> Result<String, TemplateError> {
        render(text, &data(), &|name| match name {
            "a/b" => Ok("<{{.Name}}>".to_owned()),
            other => Err(format!("no {other}")),
        })
    }

    #[track_caller]
    fn becomes(text: &str, wanted: &str) {
        assert_eq!(rendered(text).as_deref(), Ok(wanted), "{text}");
    }

    #[test]
    fn fields_and_included_text_that_is_not_a_template_itself() {
        becomes("I am {{.Name}}{{/* really */}}.", "I am bot.");
        becomes(
            r#"{{include "a/b"}}{{"a/b" | include}}"#,
            "<{{.Name}}><{{.Name}}>",
        );
        becomes("{{.Tools}}", "[get list]");
    }

    #[test]
    fn loops_choices_and_variables() {
        becomes("{{range .Tools}}{{.}}, {{end}}", "get, list, ");
        becomes(
            "{{range $i, $t := .Tools}}{{if $i}}, {{end}}{{$t}}{{end}}",
            "get, list",
        );
        becomes("{{range .None}}x{{else}}none{{end}}", "none");
        becomes("{{if .None}}a{{else if .Tools}}b{{else}}c{{end}}", "b");
        becomes("{{with .Name}}{{.}}{{$.Name}}{{end}}", "botbot");
        becomes("{{$n := 1}}{{$n = len .Tools}}{{$n}}", "2");
        becomes(
            "{{range .Tools}}{{if eq . \"list\"}}{{break}}{{end}}{{.}}{{end}}",
            "get",
        );
    }

    #[test]
    fn functions_and_pipelines() {
        becomes(
            r#"{{printf "%s has %d (%v) %q" .Name (len .Tools) .Tools "x"}}"#,
            r#"bot has 2 ([get list]) "x""#,
        );
        becomes(
            "{{index .Tools 1}} {{not .None}} {{and 1 .Name}} {{or .None \"or\"}}",
            "list true bot or",
        );
        becomes(
            "{{if and (eq .Name \"bot\") (lt 1 2) (ne 1 2)}}yes{{end}}",
            "yes",
        );
        becomes("{{.Name | printf \"%s-%s\" \"a\"}}", "a-bot");
    }

    #[test]
    fn trimming_and_definitions() {
        becomes("a  {{- .Name -}}  b", "abotb");
        becomes(
            "{{define \"t\"}}[{{.}}]{{end}}{{template \"t\" .Name}}",
            "[bot]",
        );
        becomes("{{`raw {{ text`}}", "raw {{ text");
    }

    #[test]
    fn errors_say_where_and_what() {
        let error = |text: &str| rendered(text).expect_err(text).to_string();
        assert_eq!(error("a\n{{if .Name}}"), "line 2: \"if\" has no end");
        assert_eq!(error("{{.Nope}}"), "there is no field Nope");
        assert_eq!(error("{{include \"x\"}}"), "no x");
        assert_eq!(
            error("{{html .Name}}"),
            "line 1: the function html is not known"
        );
        assert_eq!(error("{{.Name"), "line 1: an action is not closed");
        assert_eq!(error("{{end}}"), "line 1: unexpected \"end\"");
    }
}
