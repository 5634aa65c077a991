//! The frame of the OpenAPI document; its paths come from the route table.

use evenkeel_api::ErrorBody;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr,
    ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema as _};

const SCHEME: &str = "key";

/// The document without its paths.
pub(crate) fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Evenkeel broker")
        .version("v1")
        .description(Some(
            "The control plane of a fleet of Kubernetes clusters. Send `Authorization: Bearer \
             <key>` with every request under /api/v1. Errors are always JSON: `{code, message, \
             details?}`. Lists are arrays; the header `x-next-cursor` says where to go on.",
        ))
        .build();
    let header = ApiKeyValue::with_description("authorization", "`Bearer <key>`, or the key alone");
    let components = ComponentsBuilder::new()
        .security_scheme(SCHEME, SecurityScheme::ApiKey(ApiKey::Header(header)))
        .schema(ErrorBody::name(), ErrorBody::schema())
        .build();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .build()
}

/// Adds what every operation has in common: it needs a key, and it may fail.
pub(crate) fn finished(mut document: OpenApi) -> OpenApi {
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            operation
                .responses
                .responses
                .insert("default".to_owned(), failure());
            let needs_key = || vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())];
            operation.security.get_or_insert_with(needs_key);
        }
    }
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.patch,
    ]
    .into_iter()
    .flatten()
}

fn failure() -> RefOr<utoipa::openapi::Response> {
    let schema = Ref::from_schema_name(ErrorBody::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new()
        .description("Why the request was refused or failed")
        .content("application/json", content)
        .build();
    RefOr::T(response)
}
