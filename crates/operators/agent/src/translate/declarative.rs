//! Agents that are described by their prompt, model and tools.

use super::config::{AgentConfig, CompactionConfig, ContextConfig, MemoryConfig, NetworkConfig};
use super::error::TranslateError;
use super::hash::Secrets;
use super::model::{self, DEFAULT_MODEL, Model};
use super::parts::PodParts;
use super::{Compiled, Scene, prompt, tools, workload};
use crate::api::agent::{DeclarativeAgent, Memory};
use crate::api::context::{Compaction, Summarizer};

pub(super) fn compile(scene: &Scene<'_>) -> Result<Compiled, TranslateError> {
    let declarative = scene.agent.spec.declarative.as_ref();
    let declarative = declarative.ok_or(TranslateError::Missing("spec.declarative"))?;
    let mut compiler = Compiler {
        scene,
        model_name: model_name(declarative),
        parts: PodParts::default(),
        secrets: Secrets::default(),
    };
    let config = compiler.config(declarative)?;
    let workload = workload::declarative(scene, declarative, compiler.parts)?;
    Ok(Compiled {
        config,
        workload,
        secrets: compiler.secrets,
    })
}

/// The model that an agent names, or the one that all have.
pub(crate) fn model_name(declarative: &DeclarativeAgent) -> &str {
    let named = declarative
        .model_config
        .as_deref()
        .filter(|name| !name.is_empty());
    named.unwrap_or(DEFAULT_MODEL)
}

/// The summariser's model, where it is not the agent's own.
pub(crate) fn summarizer_name<'a>(summarizer: &'a Summarizer, own: &str) -> Option<&'a str> {
    summarizer
        .model_config
        .as_deref()
        .filter(|name| !name.is_empty() && *name != own)
}

/// Gathers what models and tools add to the pod, in the order in which they are met.
struct Compiler<'a> {
    scene: &'a Scene<'a>,
    model_name: &'a str,
    parts: PodParts,
    secrets: Secrets,
}

impl Compiler<'_> {
    fn config(&mut self, declarative: &DeclarativeAgent) -> Result<AgentConfig, TranslateError> {
        let model = self.model(self.model_name)?;
        let message = prompt::message(self.scene, declarative)?;
        let spec = &self.scene.agent.spec;
        let network = spec
            .sandbox
            .as_ref()
            .and_then(|sandbox| sandbox.network.as_ref());
        let mut config = AgentConfig {
            description: spec.description.clone().unwrap_or_default(),
            execute_code: declarative.execute_code_blocks,
            stream: Some(declarative.stream.unwrap_or_default()),
            network: network.map(|network| NetworkConfig {
                allowed_domains: network.allowed_domains.clone().unwrap_or_default(),
            }),
            share_tools: declarative.share_tools.filter(|shares| *shares),
            ..AgentConfig::default()
        };
        if let Some(context) = &declarative.context {
            let compaction = context.compaction.as_ref();
            let compaction = compaction
                .map(|it| self.compaction(it, &model))
                .transpose()?;
            config.context_config = Some(ContextConfig { compaction });
        }
        config.memory = declarative
            .memory
            .as_ref()
            .map(|it| self.memory(it))
            .transpose()?;
        config.model = Some(model);
        for tool in declarative.tools.as_deref().unwrap_or_default() {
            tools::add(
                tool,
                self.scene,
                &mut config,
                &mut self.parts,
                &mut self.secrets,
            )?;
        }
        config.instruction = prompt::instruction(message, self.scene, declarative, &config)?;
        Ok(config)
    }

    /// Translates a model and takes in what its pods need.
    fn model(&mut self, name: &str) -> Result<Model, TranslateError> {
        let translated = model::translate(self.scene, name)?;
        self.parts.merge(translated.parts);
        self.secrets
            .add(format!("secrets of model {name}"), translated.secret_hash);
        Ok(translated.model)
    }

    fn compaction(
        &mut self,
        compaction: &Compaction,
        own: &Model,
    ) -> Result<CompactionConfig, TranslateError> {
        let summarizer = compaction.summarizer.as_ref();
        let summarizer_model = match summarizer.map(|it| summarizer_name(it, self.model_name)) {
            None => None,
            Some(None) => Some(own.clone()),
            Some(Some(name)) => Some(self.model(name)?),
        };
        Ok(CompactionConfig {
            compaction_interval: compaction.compaction_interval,
            overlap_size: compaction.overlap_size,
            summarizer_model,
            prompt_template: summarizer
                .and_then(|summarizer| summarizer.prompt_template.clone())
                .unwrap_or_default(),
            token_threshold: compaction.token_threshold,
            event_retention_size: compaction.event_retention_size,
        })
    }

    fn memory(&mut self, memory: &Memory) -> Result<MemoryConfig, TranslateError> {
        let translated = model::translate(self.scene, &memory.model_config)?;
        self.parts.merge(translated.parts);
        if memory.model_config != self.model_name {
            let name = format!("secrets of model {}", memory.model_config);
            self.secrets.add(name, translated.secret_hash);
        }
        Ok(MemoryConfig {
            ttl_days: memory.ttl_days.unwrap_or_default(),
            embedding: translated.model.as_embedding(),
        })
    }
}
