//! Bodies: JSON, YAML or protobuf, by content type.

use serde_json::Value;

use super::duplicates;
use crate::protobuf;
use crate::status::ApiError;

/// A decoded body.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// Paths of fields that were written twice; the last one counts.
    pub(crate) duplicates: Vec<String>,
}

/// Decodes the body of a create, an update or a deletion.
pub(crate) fn decode(content_type: &str, bytes: &[u8]) -> Result<Decoded, ApiError> {
    match media_type(content_type) {
        "" | "application/json" => json(bytes),
        "application/yaml" => yaml(bytes),
        "application/vnd.kubernetes.protobuf" => protobuf(bytes),
        _ => Err(ApiError::new(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: \
             application/json, application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

/// Decodes the body of an apply patch: YAML, of which JSON is a part.
pub(crate) fn decode_patch_yaml(bytes: &[u8]) -> Result<Decoded, ApiError> {
    json(bytes).or_else(|_| yaml(bytes))
}

/// A content type without its parameters.
pub(crate) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

fn json(bytes: &[u8]) -> Result<Decoded, ApiError> {
    match duplicates::read(bytes) {
        Ok((value, duplicates)) => Ok(Decoded { value, duplicates }),
        Err(why) => {
            let why = match why.is_eof() {
                true => "unexpected end of JSON input".to_owned(),
                false => why.to_string(),
            };
            let message = format!("couldn't get version/kind; json parse error: {why}");
            Err(ApiError::bad_request(message))
        }
    }
}

fn protobuf(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let value = protobuf::decode(bytes).map_err(|why| ApiError::bad_request(why.to_string()))?;
    Ok(Decoded {
        value,
        duplicates: Vec::new(),
    })
}

fn yaml(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let wrong =
        |why: String| ApiError::bad_request(format!("error converting YAML to JSON: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|why| wrong(why.to_string()))?;
    // Of the words that YAML once took for booleans, only `true` and `false` are left.
    let options = serde_saphyr::options! { strict_booleans: true };
    let value = serde_saphyr::from_str_with_options(text, options);
    let value = value.map_err(|why| wrong(why.to_string()))?;
    Ok(Decoded {
        value,
        duplicates: Vec::new(),
    })
}
