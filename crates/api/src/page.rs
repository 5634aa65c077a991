//! Pages of lists.

use evenkeel_model::{Cursor, Label, Name, Paging};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// The header that says where to go on; absent on the last page.
pub const NEXT_CURSOR: &str = "x-next-cursor";

/// Which part of a list is wanted. Without any of it the answer is the whole list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// At most so many.
    #[param(minimum = 1, maximum = 1000)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Go on after this place: the `x-next-cursor` of the page before.
    #[param(value_type = Option<i64>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Cursor>,
    /// Only those of this name.
    #[param(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Only those with this label.
    #[param(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
}

impl ListQuery {
    /// A page is never larger than this.
    pub const LARGEST: u32 = 1000;

    /// The part of the list.
    pub fn paging(&self) -> Paging {
        let limit = self.limit.map(|limit| limit.clamp(1, Self::LARGEST));
        Paging {
            after: self.after,
            limit,
        }
    }
}
