//! The audit log.

use evenkeel_api::AuditPage;
use evenkeel_model::Paging;
use evenkeel_store::AuditFilter;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::Result;

impl Core {
    /// A part of the audit log, newest first.
    pub(crate) async fn audit_list(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        limit: u32,
        offset: u32,
    ) -> Result<AuditPage> {
        caller.operator()?;
        let reach = Paging::first(limit.saturating_add(offset));
        let lines = self.store.audit_list(filter, reach).await?.items;
        let total = self.store.audit_count(filter).await?;
        let logs: Vec<_> = lines
            .into_iter()
            .skip(offset as usize)
            .map(Into::into)
            .collect();
        Ok(AuditPage {
            count: logs.len(),
            logs,
            total,
            limit,
            offset,
        })
    }
}
