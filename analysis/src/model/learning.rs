//! What the model learns from events: methods, modules, threads and processes.

use super::about::{About, LearnTopic};
use super::handle::ProcessHandle;
use super::methods::{self, MethodCode};
use super::sampler::RuntimeVersion;
use super::{Model, universal};
use nettrace_parser::view::{self, KnownProvider, Tier, View};
use nettrace_parser::{Event, Utf16};

impl Model {
    #[inline(never)]
    pub(super) fn learn_from(
        &mut self,
        event: &Event<'_>,
        process: ProcessHandle,
        topic: LearnTopic,
    ) {
        match topic {
            LearnTopic::Nothing => {}
            LearnTopic::Runtime(about) => self.learn_runtime(process, about, event),
            LearnTopic::Recorded => self.learn_universal(process, event),
            LearnTopic::Process => self.learn_process(process, event),
            LearnTopic::PathForm => self.learn_path_form(process, event),
        }
    }

    fn learn_runtime(&mut self, process: ProcessHandle, about: About, event: &Event<'_>) {
        let ticks = event.timestamp_ticks();
        match about {
            About::Method => {
                let Some(row) = self.processes.get_mut(process.index()) else { return };
                let is_rundown = || event.known_provider() == KnownProvider::Rundown;
                if row.il_maps.holds_one()
                    && is_rundown()
                    && let Some(method) = view::Method::from_event(event)
                {
                    row.il_maps.claim(method.method_id, method.rejit_id.unwrap_or(0));
                }
                if row.methods.knows(event, &self.texts) {
                    return;
                }
                let Some(method) = view::Method::from_event(event) else { return };
                if let Some((start, size)) = row.methods.learn(&method, ticks, &mut self.texts) {
                    self.stacks.reuse(process, start, size);
                }
            }
            About::IlMap => {
                if let Some(row) =
                    self.processes.get_mut(process.index()).filter(|_| self.has_lines)
                {
                    let payload = event.payload();
                    let _ = match (event.version(), event.known_provider()) {
                        (0, KnownProvider::Rundown) => row.il_maps.hold(payload, ticks),
                        (0, _) => row.il_maps.learn_of_last(payload, ticks, row.methods.codes()),
                        _ => row.il_maps.learn(payload, ticks),
                    };
                }
            }
            About::Assembly => {
                if let Some(row) = self.processes.get_mut(process.index()) {
                    let _ = row.assemblies.learn(event);
                }
            }
            About::Module => {
                let Some(module) = view::Module::from_event(event) else { return };
                if let Some(row) = self.processes.get_mut(process.index()) {
                    row.images.learn(&module, event);
                    row.modules.learn(&module, ticks);
                }
            }
            About::EntryPoint => {
                let _ = self.learn_entry_point(process, event);
            }
            About::Thread => {
                let _ = self.learn_thread(process, event);
            }
            About::Runtime => {
                let Some(information) = view::RuntimeInformation::from_event(event) else { return };
                self.name_process(process, information.command_line);
                if let Some(row) = self.processes.get_mut(process.index()) {
                    row.runtime = Some(RuntimeVersion::from_information(&information));
                }
            }
        }
    }

    /// Takes an event R2RGetEntryPoint, which says that precompiled code of a method is used.
    fn learn_entry_point(&mut self, process: ProcessHandle, event: &Event<'_>) -> Option<()> {
        let (method_id, [namespace, name, signature], start) = methods::entry_point(event)?;
        let mut intern = |text: Utf16<'_>| self.texts.intern_stored(text);
        let code = MethodCode {
            method_id,
            // The event does not contain the module.
            module_id: 0,
            start,
            size: 0,
            token: 0,
            is_jitted: false,
            tier: Tier::Unknown,
            is_cold: false,
            rejit_id: 0,
            namespace: intern(namespace),
            name: intern(name),
            signature: intern(signature),
        };
        self.processes.get_mut(process.index())?.methods.learn_entry_point(code);
        Some(())
    }

    /// Takes an event ThreadCreated or ThreadDC, which tells the purpose of a thread.
    fn learn_thread(&mut self, process: ProcessHandle, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let flags = fields.find("Flags")?.value.ok()?.as_u64()?;
        let managed_id = fields.find("ManagedThreadIndex")?.value.ok()?.as_u64()?;
        let id = fields.find("OSThreadID")?.value.ok()?.as_u64()?;
        if let Some(row) = self.processes.get_mut(process.index()) {
            row.managed_threads.insert(managed_id, id);
        }
        // Threads of the program get no name from their flags.
        let name = match flags {
            flags if flags & 2 != 0 => "Finalizer",
            flags if flags & 4 != 0 => ".NET ThreadPool",
            flags if flags & 1 != 0 => ".NET GC",
            _ => return None,
        };
        let thread = self.threads.intern(process, Some(id));
        self.threads.name(thread, name);
        Some(())
    }

    fn learn_process(&mut self, process: ProcessHandle, event: &Event<'_>) {
        if let Some(information) = view::ProcessInfo::from_event(event) {
            self.name_process(process, information.command_line);
        }
    }

    fn name_process(&mut self, process: ProcessHandle, name: impl std::fmt::Display) {
        if let Some(row) = self.processes.get_mut(process.index())
            && row.name.is_empty()
        {
            row.name = name.to_string();
        }
    }

    fn learn_universal(&mut self, process: ProcessHandle, event: &Event<'_>) {
        let Some(row) = self.processes.get_mut(process.index()) else { return };
        match event.id() {
            0 | 1 => {
                if let Some(name) = event.field("Name") {
                    self.name_process(process, universal::text(name));
                }
            }
            3 => {
                let _ = row.mappings.learn_mapping(event);
            }
            4 => {
                let _ = row.mappings.learn_symbol(event, &mut self.texts);
            }
            5 => {
                let _ = row.mappings.learn_metadata(event);
            }
            _ => {}
        }
    }
}
