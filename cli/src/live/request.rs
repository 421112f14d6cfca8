//! Makes the request for a process from the command line.

use crate::args::profiles::{
    ACTIVITY_IDS_KEYWORD, DIAGNOSTIC_SOURCE, RUNTIME, SAMPLER, TASKS, united_rundown,
};
use crate::args::providers::{RundownChoice, default_keywords};
use crate::args::{CollectArgs, ProfileName, SessionArgs};
use crate::failure::Failure;
use nettrace_ipc::{EventFilter, Level, Provider, Providers, RequestError, Rundown, SessionConfig};

/// Keywords Loader, JIT and CompilationDiagnostic: at level Verbose, the runtime names methods when
/// it compiles them, and precompiled methods when it binds them.
const METHOD_NAMES: u64 = 0x20_0000_0018;
/// Keyword of the maps from the code of methods to their IL, which tell lines.
const IL_MAPS: u64 = 0x2_0000;
/// Id of the event with such a map.
const IL_MAP: u32 = 190;
/// Ids of the events that level Verbose adds to the keywords of profiles, besides names of methods:
/// ticks of allocation, pinned and finalized objects, memory pressure, joins and free lists of
/// collections; statistics and work items of the thread pool; memory of the compiler, offsets of
/// compiled code; waits for handles.
const OTHERS_AT_VERBOSE: [u32; 18] =
    [10, 29, 33, 200, 201, 203, 209, 56, 60, 61, 62, 63, 64, 65, 146, IL_MAP, 301, 302];
/// Providers of requests, whose events belong together by ids.
const REQUESTS: [&str; 2] = ["Microsoft.AspNetCore.Hosting", "System.Net.Http"];
/// Profiles of a session if no option says what to record.
const DEFAULT_PROFILES: [ProfileName; 2] =
    [ProfileName::DotnetCommon, ProfileName::DotnetSampledThreadTime];

/// Returns the profiles of the command line, or the default ones.
fn profiles(args: &SessionArgs) -> &[ProfileName] {
    let is_silent = args.providers.is_empty()
        && args.profile.is_empty()
        && args.clrevents.is_none()
        && args.events.is_empty();
    if is_silent { &DEFAULT_PROFILES } else { &args.profile }
}

/// Returns the rundown of the command line, else the one that the profiles need.
pub(crate) fn rundown(args: &SessionArgs, choice: Option<RundownChoice>) -> Rundown {
    choice.map_or_else(|| united_rundown(profiles(args)), |choice| choice.0)
}

/// Returns the configuration of the session that the arguments ask for. `more` are providers in
/// addition to the command line's; `rundown` comes from [`rundown`].
pub(crate) fn config(
    args: &SessionArgs,
    more: Vec<Provider>,
    rundown: Rundown,
) -> Result<SessionConfig, Failure> {
    let profiles = if more.is_empty() { profiles(args) } else { &args.profile };
    let mut wanted: Vec<Provider> =
        args.providers.iter().flat_map(|list| list.providers.clone()).collect();
    for profile in profiles {
        wanted.extend(profile.providers()?);
    }
    if let Some(keywords) = args.clrevents {
        let provider = Provider::new(RUNTIME)?;
        wanted.push(provider.keywords(keywords.0).level(args.clreventlevel));
    }
    wanted.extend(more);
    let providers = filtered(wanted, args)?;
    Ok(SessionConfig::new(providers)
        .buffer_megabytes(args.buffersize)
        .stacks(!args.no_stacks)
        .rundown(rundown))
}

/// Combines the providers, and filters them by the event ids of `--events`. A provider that only
/// `--events` names gets its default keywords, at level Verbose.
fn filtered(mut wanted: Vec<Provider>, args: &SessionArgs) -> Result<Providers, RequestError> {
    for ids in &args.events {
        if !wanted.iter().any(|provider| provider.name() == ids.provider) {
            let keywords = default_keywords(&ids.provider);
            wanted.push(Provider::new(&ids.provider)?.keywords(keywords).level(Level::Verbose));
        }
    }
    let united = Providers::new(wanted)?;
    if args.events.is_empty() {
        return Ok(united);
    }
    // Ids for one provider from several options are combined.
    let with_ids = united.iter().flat_map(|provider| {
        let filters: Vec<_> =
            args.events.iter().filter(|ids| ids.provider == provider.name()).collect();
        match filters.as_slice() {
            [] => vec![provider.clone()],
            _ => filters.iter().map(|ids| provider.clone().filter(ids.filter.clone())).collect(),
        }
    });
    Providers::new(with_ids)
}

/// Adds to a session with samples the events that name methods when they are compiled or bound,
/// because a process that dies writes no rundown. This is only for processes that the command
/// starts: methods that were compiled before are not reported. `has_lines` adds the maps that tell
/// lines, to sessions without samples and of running processes, too.
pub(crate) fn naming_methods(
    config: SessionConfig,
    has_lines: bool,
) -> Result<SessionConfig, RequestError> {
    let has_samples = config.providers().iter().any(|provider| provider.name() == SAMPLER);
    let is_filtered = |provider: &Provider| provider.event_filter().is_some();
    if !has_samples && !has_lines || config.providers().iter().any(is_filtered) {
        return Ok(config);
    }
    let asked = config.providers().iter().find(|provider| provider.name() == RUNTIME);
    let is_verbose = asked
        .is_some_and(|asked| matches!(asked.wanted_level(), Level::Verbose | Level::LogAlways));
    let keywords = METHOD_NAMES | if has_lines { IL_MAPS } else { 0 };
    let names = Provider::new(RUNTIME)?.keywords(keywords).level(Level::Verbose);
    let all = Providers::new(config.providers().iter().cloned().chain([names]))?;
    // A provider has one level in a session. .NET 10 and later can leave events out; earlier
    // versions send all events of the level.
    let all = all.iter().cloned().map(|provider| match provider.name() == RUNTIME && !is_verbose {
        true => provider.filter(others_at_verbose(has_lines)),
        false => provider,
    });
    Ok(config.providing(Providers::new(all.collect::<Vec<_>>())?))
}

/// Adds the events of tasks that tell who awaits whom, and the async profiler of .NET 11, which tells
/// it of methods that the runtime itself suspends. Other runtimes do not know it.
pub(crate) fn with_tasks(config: SessionConfig) -> Result<SessionConfig, RequestError> {
    let tasks = Provider::new(TASKS)?.keywords(AWAITS).level(Level::Verbose);
    let profiler = Provider::new(ASYNC_PROFILER)?.keywords(CALL_STACKS);
    let added = [tasks, profiler.level(Level::Informational)];
    let all = Providers::new(config.providers().iter().cloned().chain(added))?;
    Ok(config.providing(all))
}

/// Keywords of the events that tell who awaits whom.
const AWAITS: u64 = 0x1ff;
/// The async profiler of .NET 11, with all of its sub-events.
const ASYNC_PROFILER: &str = "System.Runtime.CompilerServices.AsyncProfilerEventSource";
const CALL_STACKS: u64 = 0x3_ffff;

/// Returns whether a provider leaves out only the events that [`naming_methods`] would bring
/// besides names.
pub(crate) fn leaves_out_what_names_bring(provider: &Provider) -> bool {
    [false, true].iter().any(|lines| provider.event_filter() == Some(&others_at_verbose(*lines)))
}

/// Returns the filter that leaves out what level Verbose adds besides names and, with `has_lines`,
/// maps of code.
fn others_at_verbose(has_lines: bool) -> EventFilter {
    EventFilter::except(OTHERS_AT_VERBOSE.into_iter().filter(|id| !has_lines || *id != IL_MAP))
}

/// Returns the options of `collect` that ask for a provider, each behind the provider's name.
pub(crate) fn askers(args: &CollectArgs) -> Vec<(&'static str, &'static str)> {
    let all = [
        (args.lines, RUNTIME, "--lines"),
        (args.async_callers, TASKS, "--async"),
        (args.async_callers, ASYNC_PROFILER, "--async"),
    ];
    all.into_iter().filter(|row| row.0).map(|(_, name, option)| (name, option)).collect()
}

/// Returns the providers as lines of a table, each with the options that name it, below a heading.
/// `askers` are more of these than a session's own.
pub(crate) fn table(
    args: &SessionArgs,
    config: &SessionConfig,
    askers: &[(&str, &str)],
) -> Vec<String> {
    let mut rows = vec![["Provider", "Keywords", "Level", "Enabled by"].map(str::to_owned)];
    for provider in config.providers() {
        let level = provider.wanted_level();
        rows.push([
            provider.name().to_owned(),
            format!("{:#018x}", provider.wire_keywords()),
            format!("{level:?}({})", level.number()),
            sources(args, provider.name(), askers).join(", "),
        ]);
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let line = |row: &[String; 4]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        format!("{}{}", cells.collect::<String>(), row[3])
    };
    rows.iter().map(line).collect()
}

/// Returns the names of the providers that `--providers` and `--events` name, each once. A provider
/// that only makes ids of activities is left out, since it sends nothing.
pub(crate) fn named_providers(args: &SessionArgs) -> Vec<String> {
    let lists = args.providers.iter().flat_map(|list| &list.providers);
    let lists = lists.filter(|provider| {
        let keywords = provider.wire_keywords() & !Provider::SESSION_KEYWORDS;
        !makes_ids(provider) || keywords != ACTIVITY_IDS_KEYWORD
    });
    let lists = lists.map(|provider| provider.name());
    let mut names: Vec<String> = Vec::new();
    for name in lists.chain(args.events.iter().map(|ids| ids.provider.as_str())) {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns whether a provider makes ids of activities, with which the others mark their events.
fn makes_ids(provider: &Provider) -> bool {
    provider.name() == TASKS && provider.wire_keywords() & ACTIVITY_IDS_KEYWORD != 0
}

/// Returns the options that name a provider.
fn sources(args: &SessionArgs, name: &str, askers: &[(&str, &str)]) -> Vec<String> {
    let mut sources = Vec::new();
    for list in &args.providers {
        if list.bare.iter().any(|bare| bare == name) {
            let keywords = if name == RUNTIME { "those of dotnet-common" } else { "all keywords" };
            sources.push(format!("--providers ({keywords}; dotnet-trace would ask for 0)"));
        } else if list.providers.iter().any(|provider| provider.name() == name) {
            sources.push("--providers".to_owned());
        }
    }
    for profile in profiles(args) {
        if profile
            .providers()
            .is_ok_and(|providers| providers.iter().any(|other| other.name() == name))
        {
            let profile = clap::ValueEnum::to_possible_value(profile);
            let profile = profile.map(|value| value.get_name().to_owned()).unwrap_or_default();
            let option = if args.profile.is_empty() { "default" } else { "--profile" };
            sources.push(format!("{option} {profile}"));
        }
    }
    if args.clrevents.is_some() && name == RUNTIME {
        sources.push("--clrevents".to_owned());
    }
    if args.events.iter().any(|ids| ids.provider == name) {
        sources.push("--events".to_owned());
    }
    let asks = askers.iter().filter(|(provider, _)| *provider == name);
    sources.extend(asks.map(|(_, option)| (*option).to_owned()));
    if sources.is_empty() {
        // Only two things add providers without an option: names of methods of a started program,
        // and the counters of conditions.
        let more = if name == RUNTIME { "names of methods" } else { "--until" };
        sources.push(more.to_owned());
    }
    sources
}

/// Returns warnings about changes that a session makes in the process, and about providers that it
/// cannot record.
pub(crate) fn warnings(config: &SessionConfig) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_of_requests = |provider: &Provider| REQUESTS.contains(&provider.name());
    if config.providers().iter().any(is_of_requests) && !config.providers().iter().any(makes_ids) {
        warnings.push(format!(
            "requests get no ids, so what belongs to which is a guess: add {TASKS}:{ACTIVITY_IDS_KEYWORD:#x}:4"
        ));
    }
    for provider in config.providers() {
        if provider.name() == DIAGNOSTIC_SOURCE {
            warnings.push(format!(
                "{DIAGNOSTIC_SOURCE} has one filter for the whole process: this session replaces that of any other \
                 session, and does not restore it"
            ));
        }
        if provider.name().parse::<nettrace_ipc::Guid>().is_ok() {
            let name = provider.name();
            warnings.push(format!("{name} is a GUID; runtimes know providers only by name"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use nettrace_ipc::CollectCommand;

    fn asked(args: &[&str]) -> SessionConfig {
        let all = ["nettrace", "collect", "--dry-run"].iter().chain(args);
        match Cli::try_parse_from(all).map(|cli| cli.command) {
            Ok(Command::Collect(args)) => {
                config(&args.session, Vec::new(), rundown(&args.session, args.rundown)).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    fn shown(config: &SessionConfig) -> Vec<String> {
        config.providers().iter().map(Provider::to_string).collect()
    }

    #[test]
    fn without_options_the_two_default_profiles_are_meant() {
        let config = asked(&[]);
        let expected = [
            "Microsoft-Windows-DotNETRuntime:0xf0100003801d:4",
            "Microsoft-DotNETCore-SampleProfiler:0xf00000000000:4",
        ];
        assert_eq!(shown(&config), expected);
        assert_eq!(config.lowest(), CollectCommand::V2);
    }

    #[test]
    fn profiles_unite() {
        let config = asked(&["--profile", "dotnet-common,gc-verbose"]);
        assert_eq!(shown(&config), ["Microsoft-Windows-DotNETRuntime:0xf0100003801f:5"]);
        let config =
            asked(&["--profile", "gc-collect", "--clrevents", "exception", "--clreventlevel", "2"]);
        assert_eq!(shown(&config)[0], "Microsoft-Windows-DotNETRuntime:0xf00000008001:4");
    }

    #[test]
    fn the_rundown_is_what_the_profiles_need_unless_given() {
        assert_eq!(asked(&["--profile", "gc-collect"]).lowest(), CollectCommand::V4);
        assert_eq!(asked(&["--profile", "gc-collect,gc-verbose"]).lowest(), CollectCommand::V2);
        assert_eq!(
            asked(&["--profile", "gc-collect", "--rundown", "false"]).lowest(),
            CollectCommand::V2
        );
        assert_eq!(asked(&["--no-stacks"]).lowest(), CollectCommand::V3);
    }

    #[test]
    fn methods_are_named_where_there_are_samples() {
        let shown_of =
            |args: &[&str]| shown(&naming_methods(asked(args), false).unwrap())[0].clone();
        assert_eq!(shown_of(&[]), "Microsoft-Windows-DotNETRuntime:0xf0300003801d:5");
        // Other events of level 5 are left out, unless the user asked for them.
        let filter_of = |args: &[&str]| {
            let config = naming_methods(asked(args), false).unwrap();
            config.providers().iter().next().unwrap().event_filter().cloned()
        };
        let filter = filter_of(&[]).expect("the default level is 4");
        assert!(!filter.passes(10) && filter.passes(1) && filter.passes(143) && filter.passes(145));
        let verbose = ["--profile", "gc-verbose,dotnet-sampled-thread-time"];
        assert_eq!(filter_of(&verbose), None);
        let collections = shown_of(&["--profile", "gc-collect"]);
        assert_eq!(collections, "Microsoft-Windows-DotNETRuntime:0xf00000000001:4");
    }

    #[test]
    fn lines_need_maps_of_code_whether_or_not_there_are_samples() {
        for (args, expected) in [
            (&[][..], "Microsoft-Windows-DotNETRuntime:0xf0300003801d:5"),
            (&["--profile", "gc-collect"], "Microsoft-Windows-DotNETRuntime:0xf02000020019:5"),
        ] {
            let config = naming_methods(asked(args), true).unwrap();
            assert_eq!(shown(&config)[0], expected);
            let provider = config.providers().iter().next().unwrap();
            let filter = provider.event_filter().unwrap();
            assert!(filter.passes(IL_MAP) && filter.passes(143) && !filter.passes(10));
            assert!(leaves_out_what_names_bring(provider));
        }
    }

    #[test]
    fn event_ids_need_no_other_option() {
        let config = asked(&["--events", "P=1,2", "--events", "P=3"]);
        let providers: Vec<_> = config.providers().iter().collect();
        assert_eq!(providers.len(), 1);
        assert_eq!(providers[0].event_filter(), Some(&EventFilter::only([1, 2, 3])));
        assert_eq!(config.lowest(), CollectCommand::V5);
    }
}
