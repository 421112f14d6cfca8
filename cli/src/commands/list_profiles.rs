//! `nettrace list-profiles`: lists the ready-made sets of providers.

use crate::args::ProfileName;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::ValueEnum;
use std::io::Write;

pub(super) fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    for profile in ProfileName::value_variants() {
        let Some(value) = profile.to_possible_value() else { continue };
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(context.out, "{:<28}{help}", value.get_name())?;
        let providers = profile.providers()?;
        for provider in providers {
            let (keywords, level) = (provider.wire_keywords(), provider.wanted_level().number());
            writeln!(context.out, "{:<28}{}:{keywords:#x}:{level}", "", provider.name())?;
        }
    }
    context.out.finish()?;
    Ok(Exit::Fine)
}
