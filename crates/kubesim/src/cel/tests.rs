//! Expressions over values that a schema describes.

use serde_json::{Value, json};

use super::{Declared, Expression, Variable};

fn evaluate(text: &str, object: &Value) -> Result<Value, String> {
    let expression = Expression::compile(text, &[("self", Declared::any())])?;
    expression.evaluate(&[("self", Variable::Plain(object, None))])
}

#[track_caller]
fn holds(text: &str) {
    let object = json!({"n": 3, "text": "abc", "list": [1, 2, 3], "map": {"a": 1}, "empty": []});
    assert_eq!(evaluate(text, &object), Ok(json!(true)), "{text}");
}

#[test]
fn the_language_itself() {
    holds("self.n > 2 && self.text.startsWith('a')");
    holds("self.list.all(x, x > 0) && self.list.exists(x, x == 2) && !has(self.nothing)");
    holds("self.list.map(x, x * 2).filter(x, x > 2) == [4, 6]");
    holds("self.?nothing.orValue(7) == 7");
    holds("'%d of %s'.format([self.n, self.text]) == '3 of abc'");
    holds("self.map.all(k, self.map[k] == 1)");
    holds(
        "duration('90s') > duration('1m') && timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
    );
}

#[test]
fn lists_and_sets() {
    holds(
        "self.list.isSorted() && self.list.sum() == 6 && self.list.max() == 3 && self.list.min() == 1",
    );
    holds("self.list.indexOf(2) == 1 && [1, 2, 1].lastIndexOf(1) == 2 && self.empty.sum() == 0");
    holds(
        "sets.contains(self.list, [3, 1]) && sets.equivalent([1, 1], [1]) && sets.intersects([1, 2], [2, 3])",
    );
    holds("!sets.contains([1], [2]) && !sets.intersects([], [1])");
}

#[test]
fn texts_urls_and_quantities() {
    holds("'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']");
    holds("isURL('https://a.example:80/x?y=1') && !isURL('nonsense')");
    holds("url('https://a.example:80/x%20y?y=1&y=2').getHost() == 'a.example:80'");
    holds("url('https://a.example:80/x?y=1&y=2').getQuery() == {'y': ['1', '2']}");
    holds("url('https://[::1]:80/').getHostname() == '::1' && url('https://a/').getPort() == ''");
    holds(
        "quantity('1.5Gi').isGreaterThan(quantity('1G')) && quantity('1').add(2).compareTo(quantity('3')) == 0",
    );
    holds(
        "isQuantity('1m') && !isQuantity('x') && quantity('2k').asInteger() == 2000 && quantity('-1').sign() == -1",
    );
}

#[test]
fn addresses_versions_and_formats() {
    holds(
        "isIP('10.0.0.1') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && !isIP('10.0.0')",
    );
    holds(
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
    );
    holds(
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.0.0.0/8').prefixLength() == 8",
    );
    holds(
        "isSemver('1.2.3') && semver('1.10.0').isGreaterThan(semver('1.9.9')) && semver('1.2.3-a').isLessThan(semver('1.2.3'))",
    );
    holds(
        "!format.dns1123Label().validate('abc').hasValue() && format.dns1123Label().validate('A').hasValue()",
    );
}

#[test]
fn errors_are_worded_as_by_a_real_server() {
    let object = json!({"a": 1, "list": []});
    let error = |text| evaluate(text, &object).expect_err(text);
    assert_eq!(error("self.b == 1"), "no such key: b");
    assert_eq!(error("self.a / 0 == 1"), "division by zero");
    assert_eq!(error("self.list[3] == 1"), "index out of bounds: 3");
}

#[test]
fn faults_are_found_before_anything_runs() {
    let schema = crate::schema::builtin("", "v1", "ConfigMap").expect("config maps");
    let compile = |text| {
        let this = Declared::of_schema(&schema, false);
        Expression::compile(text, &[("self", this)])
            .err()
            .unwrap_or_default()
    };
    assert_eq!(compile("self.data.all(k, self.data[k] != '')"), "");
    assert_eq!(
        compile("self.nope == 1"),
        "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^"
    );
    assert_eq!(
        compile("self.kind > 1"),
        "ERROR: <input>:1:11: found no matching overload for '_>_' applied to '(string, int)'\n | self.kind > 1\n | ..........^"
    );
    assert!(
        compile("missing(self)").contains("undeclared reference to 'missing' (in container '')")
    );
}

#[test]
fn what_has_no_limits_costs_too_much() {
    let schema = crate::schema::builtin("", "v1", "ConfigMap").expect("config maps");
    let cost = |text| {
        let this = Declared::of_schema(&schema, false);
        Expression::compile(text, &[("self", this)])
            .expect(text)
            .cost
    };
    assert!(cost("self.immutable") < 10);
    assert!(cost("self.data.all(k, self.data.all(l, self.data[k] != self.data[l]))") > 10_000_000);
}
