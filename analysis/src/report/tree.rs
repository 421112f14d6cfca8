//! Call trees.

use super::contract::{Recording, Report, ReportInput, SCHEMA, SampleReport};
use super::running::{CountedSamples, SampleSums};
use crate::document::percent;
use crate::model::{
    Call, CallNode, CallNodes, FrameHandle, Kind, Pattern, ProfileKey, Resolved, ServedEndpoint,
    SourceLine, TextHandle, ThreadState, UNKNOWN_ENDPOINT,
};

/// Options of a call tree. As a [`Report`] it computes a [`CallTree`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TreeOptions {
    /// Pattern of the root frames: a stack's path starts at the outermost frame whose text matches,
    /// or at the innermost if `is_callers`. `None` for whole stacks.
    pub from: Option<Pattern>,
    /// Inverts the tree: the children of a method are its callers.
    pub is_callers: bool,
    /// Minimum percentage of all time that a node must have to be listed.
    pub min_percent: f64,
    /// Lists only the heaviest root, and below it the heaviest child of each node while it has at
    /// least 80 % of its parent.
    pub is_hot_path: bool,
    /// Puts the endpoints of requests above the roots, and `(no request)` above all other work. It
    /// needs [`AnalysisOptions::endpoints`](crate::AnalysisOptions::endpoints).
    pub is_by_endpoint: bool,
}

impl Default for TreeOptions {
    /// Lists nodes with at least 1 % of the time.
    fn default() -> Self {
        TreeOptions {
            from: None,
            is_callers: false,
            min_percent: 1.0,
            is_hot_path: false,
            is_by_endpoint: false,
        }
    }
}

/// Name of the node above all work outside of requests.
const NO_REQUEST: &str = "(no request)";
/// Number that stands for no endpoint.
const NO_ENDPOINT: TextHandle = TextHandle(u32::MAX);
/// Name above the work of threads that may have worked for requests whose times are left out.
const REQUESTS_LEFT_OUT: &str = "(requests left out)";
/// Number that stands for these requests.
const LEFT_OUT: TextHandle = TextHandle(UNKNOWN_ENDPOINT);

impl Report for TreeOptions {
    type Output = CallTree;

    const NAME: &'static str = "tree";
    const ABOUT: &'static str = "Call tree: which method called which";
    const RECORD: &'static [Recording] = &[Recording::SAMPLER];
    const INPUT: ReportInput = ReportInput::Samples;
    const STATES: &'static [ThreadState] = &ThreadState::RUNNING;
    const FOLDS_RECORDING: bool = true;

    fn finish(self, resolved: &Resolved<'_>) -> CallTree {
        CallTree::new(resolved, &self)
    }
}

impl SampleReport for TreeOptions {}

/// Call tree of a trace's CPU samples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CallTree {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Numbers and times of the samples that count. JSON has them beside the other members.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub counted: CountedSamples,
    /// Number of samples that end at a node named `(deeper)`. A tree has at most 262,144 other
    /// nodes; such a node stands for the calls below one of these that found no room.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub deeper_samples: u64,
    /// Time of the samples that end at a node named `(deeper)`, in nanoseconds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub deeper_ns: u64,
    /// Nodes, each followed by its children, heaviest child first. The list is flat because stacks
    /// may be deeper than JSON parsers allow objects to nest.
    pub nodes: Vec<TreeNode>,
}

/// Node of a [`CallTree`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreeNode {
    /// Number of callers above this node: 0 for a root.
    pub depth: u32,
    /// Name of the frame.
    pub name: String,
    /// Short name of the module; empty if unknown.
    pub module: String,
    /// Endpoint of a web application, such as `GET /cart`, of which the method is the handler.
    /// `None` if the method handles none, or several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub endpoint: Option<ServedEndpoint>,
    /// Source line, with which the name ends; `None` unless
    /// [`AnalysisOptions::lines`](crate::AnalysisOptions::lines) asks for lines, or if it is not known.
    #[cfg_attr(feature = "serde", serde(flatten, skip_serializing_if = "Option::is_none"))]
    pub line: Option<SourceLine>,
    /// Name of the handler of an endpoint that is not known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) handler: Option<String>,
    /// Whether the name is a guess.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "guessed", skip_serializing_if = "crate::document::is_false")
    )]
    pub is_guessed: bool,
    /// Number of samples that end here.
    pub self_samples: u64,
    /// Number of samples that pass through here.
    pub total_samples: u64,
    /// Time of the samples that end here, in nanoseconds.
    pub self_ns: u64,
    /// Time of the samples that pass through here, in nanoseconds.
    pub total_ns: u64,
    /// Percentage of all time that is `self_ns`.
    pub self_percent: f64,
    /// Percentage of all time that is `total_ns`.
    pub total_percent: f64,
}

impl TreeNode {
    /// Returns the name as it is shown: that of the endpoint, if the method handles one.
    pub fn shown(&self) -> &str {
        match &self.endpoint {
            Some(endpoint) => endpoint.shown(),
            None => self.handler.as_deref().unwrap_or(&self.name),
        }
    }
}

impl CallTree {
    fn new(resolved: &Resolved<'_>, options: &TreeOptions) -> CallTree {
        let profile = resolved.profile();
        let wanted: Option<Vec<bool>> = options.from.as_ref().map(|from| {
            resolved.all_frames().iter().map(|frame| from.is_match(&frame.text)).collect()
        });
        let is_wanted = |frame: &FrameHandle| {
            wanted.as_ref().is_none_or(|wanted| wanted.get(frame.index()).copied().unwrap_or(false))
        };
        // Returns the frames of a stack from the root of the tree on.
        let path = |key: &ProfileKey, frames: &'_ [FrameHandle]| -> Option<Vec<Call>> {
            let endpoint = resolved.served_by(key.stack, key.endpoint);
            let endpoint = endpoint.map_or(NO_ENDPOINT, TextHandle);
            let endpoint = options.is_by_endpoint.then_some(Call::Label(Kind::Cpu, endpoint));
            let calls: Vec<Call> = match options.is_callers {
                true => {
                    let frames = frames.get(frames.iter().position(is_wanted)?..)?;
                    frames.iter().map(|frame| Call::Frame(*frame)).collect()
                }
                false => {
                    let frames = frames.get(..=frames.iter().rposition(is_wanted)?)?;
                    frames.iter().rev().map(|frame| Call::Frame(*frame)).collect()
                }
            };
            Some(endpoint.into_iter().chain(calls).collect())
        };
        let rows = profile.rows();
        let mut calls = CallNodes::for_paths(|| {
            let of_cpu = rows.iter().filter(|(key, _)| key.kind == Kind::Cpu);
            of_cpu.filter_map(|(key, _)| {
                Some(path(key, resolved.selected(key.stack, key.mode)?)?.into_iter())
            })
        });
        let (mut samples, mut total_ns) = (0u64, 0u64);
        let mut sums = SampleSums::default();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let Some(frames) = sums.add(resolved, key, totals) else { continue };
            if !resolved.is_recording(key.stack) {
                samples = samples.saturating_add(totals.samples);
                total_ns = total_ns.saturating_add(totals.weight);
            }
            let Some(path) = path(key, frames) else { continue };
            calls.add(path.into_iter(), totals);
        }
        let nodes = listed(&calls, resolved, options, total_ns);
        CallTree {
            schema: SCHEMA,
            counted: sums.counted(samples, total_ns, resolved, profile),
            deeper_samples: calls.left_out().samples,
            deeper_ns: calls.left_out().weight,
            nodes,
        }
    }
}

/// Minimum percentage of its parent's time that a node of the hot path has.
const HOT_PATH_PERCENT: f64 = 80.0;

fn listed(
    calls: &CallNodes,
    resolved: &Resolved<'_>,
    options: &TreeOptions,
    whole: u64,
) -> Vec<TreeNode> {
    fn text<'t>(node: &CallNode, resolved: &'t Resolved<'_>) -> &'t str {
        match node.call {
            Some(Call::Frame(frame)) => resolved.text(frame),
            Some(Call::Deeper) => Call::DEEPER,
            Some(Call::Label(_, NO_ENDPOINT)) => NO_REQUEST,
            Some(Call::Label(_, LEFT_OUT)) => REQUESTS_LEFT_OUT,
            Some(Call::Label(_, endpoint)) => resolved.profile().endpoint_name(endpoint.0),
            _ => "",
        }
    }
    // Lightest first, because `waiting` is a stack, from which the last node is taken first.
    let below = calls.below(|a, b| {
        let rank = |node: &CallNode| (node.total_weight, node.total_samples);
        rank(a).cmp(&rank(b)).then_with(|| text(b, resolved).cmp(text(a, resolved)))
    });
    let mut nodes = Vec::new();
    let mut roots = below.first().cloned().unwrap_or_default();
    if options.is_hot_path {
        roots.drain(..roots.len().saturating_sub(1));
    }
    let mut waiting: Vec<(usize, u32)> = roots.into_iter().map(|node| (node, 0)).collect();
    while let Some((at, depth)) = waiting.pop() {
        let node = calls.node(at);
        let handle = match node.call {
            Some(Call::Frame(frame)) => Some(frame),
            _ => None,
        };
        let frame = handle.and_then(|frame| resolved.frame(frame));
        let total_percent = percent(node.total_weight, whole);
        if total_percent < options.min_percent {
            continue;
        }
        nodes.push(TreeNode {
            depth,
            name: text(&node, resolved).to_owned(),
            module: frame.map(|frame| frame.module.clone()).unwrap_or_default(),
            endpoint: frame.and_then(|frame| ServedEndpoint::from_frame(frame)),
            line: frame.and_then(|frame| frame.line.clone()),
            handler: frame.and_then(|frame| frame.handler_name()),
            is_guessed: frame.is_some_and(|frame| frame.is_guessed),
            self_samples: node.self_samples,
            total_samples: node.total_samples,
            self_ns: node.self_weight,
            total_ns: node.total_weight,
            self_percent: percent(node.self_weight, whole),
            total_percent,
        });
        let mut children = below.get(at).map_or(&[][..], |children| children.as_slice());
        if options.is_hot_path {
            let heaviest = children.last().filter(|child| {
                let part = percent(calls.node(**child).total_weight, node.total_weight);
                part >= HOT_PATH_PERCENT
            });
            children = heaviest.map_or(&[][..], std::slice::from_ref);
        }
        waiting.extend(children.iter().map(|child| (*child, depth.saturating_add(1))));
    }
    nodes
}
