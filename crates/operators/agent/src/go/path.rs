//! Paths with slashes.

/// The last element, as `path.Base` finds it.
pub(crate) fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return "/";
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// Whether a path stays below the folder that it is taken from, as `filepath.IsLocal` decides.
pub(crate) fn is_local(path: &str) -> bool {
    if path.is_empty() || path.starts_with('/') {
        return false;
    }
    let mut depth = 0_i32;
    for part in path.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        if depth < 0 {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_element() {
        let paths = ["", "/", "a", "a/b", "a/b/", "//x//"];
        assert_eq!(paths.map(base), [".", "/", "a", "b", "b", "x"]);
    }

    #[test]
    fn local_paths_never_climb_out() {
        assert!(is_local("skills/k8s") && is_local("a/../b") && is_local("."));
        assert!(!is_local("/etc") && !is_local("../x") && !is_local("a/../../b") && !is_local(""));
    }
}
