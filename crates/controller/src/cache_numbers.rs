//! The numbers of the caches: read off when somebody asks, since they change with time alone.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::caches::{AnyStream, Caches};

/// The numbers of all caches of a process.
pub(crate) struct CacheNumbers(pub(crate) Arc<Caches>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    resource: String,
    selector: String,
}

impl Of {
    fn stream(stream: &dyn AnyStream) -> Self {
        Self {
            resource: stream.resource().to_string(),
            selector: stream.selector().to_owned(),
        }
    }
}

impl CacheNumbers {
    /// One number of every cache that has it.
    fn write<M: EncodeMetric + TypedMetric>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help): (&str, &str),
        number: impl Fn(&dyn AnyStream) -> Option<M>,
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, None, M::TYPE)?;
        for stream in self.0.all() {
            if let Some(number) = number(&*stream) {
                number.encode(family.encode_family(&Of::stream(&*stream))?)?;
            }
        }
        Ok(())
    }
}

impl Collector for CacheNumbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let restarts = "How often following a kind broke off and began again";
        self.write(&mut encoder, ("watch_restarts", restarts), |stream| {
            Some(ConstCounter::new(stream.following().restarts))
        })?;
        let age = "How long ago the server last said anything about a kind";
        self.write(&mut encoder, ("cache_age_seconds", age), |stream| {
            let heard = stream.following().heard?;
            Some(ConstGauge::new(heard.elapsed().as_secs_f64()))
        })?;
        let count = "How many objects of a kind are known";
        self.write(&mut encoder, ("cache_objects", count), |stream| {
            i64::try_from(stream.count()).ok().map(ConstGauge::new)
        })
    }
}

impl fmt::Debug for CacheNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheNumbers").finish_non_exhaustive()
    }
}
