//! What is asked while nothing happens.

use std::time::Duration;

use evenkeel_bench::Table;

use crate::server::Server;

/// Counts requests for so many seconds.
pub(crate) async fn measure(server: &Server, seconds: u64) -> anyhow::Result<Table> {
    let (requests, watches) = (server.requests(), server.watches());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let title = format!("at rest for {seconds} s, one set and watches of 3 kinds");
    let mut table = Table::new(&title, ["what", "requests"]);
    table.row([
        "watches renewed".into(),
        (server.watches() - watches).to_string(),
    ]);
    table.row([
        "anything else".into(),
        (server.requests() - requests).to_string(),
    ]);
    Ok(table)
}
