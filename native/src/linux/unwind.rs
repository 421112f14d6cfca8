//! Finds the callers of a frame, from a stack pointer and an instruction.
//!
//! The rules come from the call frame information of ELF files (`.eh_frame`), read by `gimli`. A
//! register whose value is unknown is `None`. At first, only the stack pointer and the instruction
//! are known, because the kernel shows no other registers of a thread that is not stopped.
//!
//! The missing frame pointer matters most: the runtime's functions find their callers by it, and
//! functions that only make a system call do not save it. If a function begins in the usual way of
//! compilers, [`prologue`](super::prologue) computes the frame pointer.
//!
//! Compiled managed code has no call frame information; its methods keep the frame pointer.

use super::image::{Bytes, Entry, Image};
use super::process::{Code, Process};
use super::prologue;
use crate::StackEnd;
use gimli::{
    CfaRule, EhFrame, EvaluationResult, Register, RegisterRule, UnwindContext, UnwindExpression,
    Value,
};

/// Maximum number of frames of a stack. Without a limit, an endless recursion would fill the
/// memory.
const MAX_FRAMES: usize = 512;
/// Maximum number of steps when an expression of an unwind table is evaluated. Real expressions
/// have about ten.
const MAX_STEPS: u32 = 1000;

#[cfg(target_arch = "x86_64")]
mod machine {
    pub(super) const STACK_POINTER: usize = 7;
    pub(super) const FRAME_POINTER: usize = 6;
    pub(super) const RETURN_ADDRESS: usize = 16;
    /// Numbers of the registers that a called function must not change: rbx, rbp, r12 to r15.
    pub(super) const KEPT: &[usize] = &[3, 6, 12, 13, 14, 15];
    pub(super) const REGISTERS: usize = 17;
    pub(super) const IN_REGISTER: bool = false;

    pub(super) fn plain(address: u64) -> u64 {
        address
    }
}

#[cfg(target_arch = "aarch64")]
mod machine {
    pub(super) const STACK_POINTER: usize = 31;
    pub(super) const FRAME_POINTER: usize = 29;
    pub(super) const RETURN_ADDRESS: usize = 30;
    /// Numbers of the registers that a called function must not change: x19 to x29.
    pub(super) const KEPT: &[usize] = &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
    pub(super) const REGISTERS: usize = 32;
    /// Whether a function that calls no other function may keep the return address in a register.
    pub(super) const IN_REGISTER: bool = true;

    /// Returns a return address without the signature that protects it.
    pub(super) fn plain(address: u64) -> u64 {
        address & 0x0000_ffff_ffff_ffff
    }
}

use machine::{FRAME_POINTER, IN_REGISTER, KEPT, REGISTERS, RETURN_ADDRESS, STACK_POINTER, plain};

/// A step of unwinding, which finds a frame: the address of an instruction, and whether that
/// follows a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) address: u64,
    pub(super) is_return: bool,
    /// Whether the runtime compiled the code of the frame.
    pub(super) is_compiled: bool,
}

impl Step {
    /// Returns an address that surely lies in the frame's function. If the instruction follows a
    /// call, that is an address within the call.
    pub(super) fn inside(&self) -> u64 {
        self.address.saturating_sub(u64::from(self.is_return))
    }
}

#[derive(Debug, Clone)]
struct Registers([Option<u64>; REGISTERS]);

impl Registers {
    fn unknown() -> Registers {
        Registers([None; REGISTERS])
    }

    fn in_register(&self, register: Register) -> Option<u64> {
        self.get(usize::from(register.0))
    }

    fn get(&self, number: usize) -> Option<u64> {
        *self.0.get(number)?
    }

    /// Sets a register. Does nothing if the register's value is not tracked.
    fn set(&mut self, number: usize, value: Option<u64>) {
        if let Some(register) = self.0.get_mut(number) {
            *register = value;
        }
    }
}

/// Returns the frames, innermost first, and the reason why there are no more.
pub(super) fn unwind(
    stack_pointer: u64,
    instruction: u64,
    process: &mut dyn Process,
) -> (Vec<Step>, StackEnd) {
    let mut context = UnwindContext::new();
    let mut registers = Registers::unknown();
    registers.set(STACK_POINTER, Some(stack_pointer));
    let mut step = Step { address: instruction, is_return: false, is_compiled: false };
    let mut steps = Vec::new();
    loop {
        let code = process.code(step.inside());
        step.is_compiled = matches!(code, Code::Compiled);
        if matches!(code, Code::None) && !steps.is_empty() {
            return (steps, StackEnd::NoCode);
        }
        steps.push(step);
        if steps.len() >= MAX_FRAMES {
            return (steps, StackEnd::TooDeep);
        }
        let left = match code {
            Code::File(image, at) => {
                let before = step.inside().wrapping_sub(at);
                let function = Function { image: &image, address: at, loaded_at: before };
                leave_function(&function, steps.len() == 1, &registers, process, &mut context)
            }
            Code::Compiled => leave_compiled(&registers, process),
            Code::Unread => Err(StackEnd::FileUnread),
            Code::None => Err(StackEnd::NoCode),
        };
        match left {
            Ok((callers, address, is_return)) => {
                registers = callers;
                step = Step { address, is_return, is_compiled: false };
            }
            Err(end) => return (steps, end),
        }
    }
}

/// The registers and the next instruction of a caller, and whether that instruction follows a call.
type Left = (Registers, u64, bool);

/// The function to which a frame belongs.
struct Function<'i> {
    image: &'i Image,
    /// Address of the frame's instruction as the linker counts it.
    address: u64,
    /// Number that the loader added to the addresses of the linker.
    loaded_at: u64,
}

fn leave_function(
    function: &Function<'_>,
    is_innermost: bool,
    registers: &Registers,
    process: &mut dyn Process,
    context: &mut UnwindContext<usize>,
) -> Result<Left, StackEnd> {
    let Function { image, address, loaded_at } = *function;
    let (Some(frames), Some(entry)) = (image.frames(), image.entry(address)) else {
        return Err(StackEnd::NoTable);
    };
    let row = entry
        .unwind_info_for_address(&frames, &image.bases(), context, address)
        .map_err(|_| StackEnd::NoTable)?;
    let mut registers = registers.clone();
    let frame = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            if usize::from(register.0) == FRAME_POINTER && registers.get(FRAME_POINTER).is_none() {
                let start = entry.initial_address().wrapping_add(loaded_at);
                let stack_pointer = registers.get(STACK_POINTER).unwrap_or(0);
                let found = prologue::frame_pointer(start, stack_pointer, process);
                registers.set(FRAME_POINTER, found);
            }
            let base = registers.in_register(*register).ok_or(StackEnd::RegisterUnknown)?;
            base.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(expression) => {
            evaluate(expression, &entry, &frames, None, &registers, process)?
        }
    };
    let mut callers = Registers::unknown();
    for kept in KEPT {
        callers.set(*kept, registers.get(*kept));
    }
    callers.set(STACK_POINTER, Some(frame));
    // The function has not saved its return address yet, or never does.
    let mut return_address =
        (IN_REGISTER && is_innermost).then_some(Err(StackEnd::RegisterUnknown));
    for (register, rule) in row.registers() {
        let place = RuleContext { entry: &entry, frames: &frames, frame, registers: &registers };
        let (saved_at, value) = place.value(*register, rule, process)?;
        let at = usize::from(register.0);
        if at == RETURN_ADDRESS {
            return_address = match rule {
                RegisterRule::Undefined => None,
                _ => Some(value.ok_or(match saved_at {
                    Some(_) => StackEnd::StackUnread,
                    None => StackEnd::RegisterUnknown,
                })),
            };
        }
        callers.set(at, value);
    }
    // The first function of a thread has no rule for the return address.
    let return_address = plain(return_address.ok_or(StackEnd::Start)??);
    if return_address == 0 {
        return Err(StackEnd::Start);
    }
    // Handlers of signals may have a stack of their own.
    let is_signal = entry.is_signal_trampoline();
    let before = registers.get(STACK_POINTER).unwrap_or(0);
    let after = callers.get(STACK_POINTER).unwrap_or(0);
    let has_moved = after > before || (IN_REGISTER && is_innermost && after == before);
    if !has_moved && !is_signal {
        return Err(StackEnd::Wrong);
    }
    Ok((callers, return_address, !is_signal))
}

/// Values that are needed to evaluate the rules for a caller's registers.
struct RuleContext<'f, 'i> {
    entry: &'f Entry<'i>,
    frames: &'f EhFrame<Bytes<'i>>,
    /// Value of the canonical frame address, on which rules are based.
    frame: u64,
    registers: &'f Registers,
}

impl RuleContext<'_, '_> {
    /// Evaluates the rule for a register. Returns the value, and the address at which the value was
    /// saved if it was.
    fn value(
        &self,
        register: Register,
        rule: &RegisterRule<usize>,
        process: &mut dyn Process,
    ) -> Result<(Option<u64>, Option<u64>), StackEnd> {
        let RuleContext { entry, frames, frame, registers } = *self;
        let mut evaluated =
            |expression| evaluate(expression, entry, frames, Some(frame), registers, process);
        let saved_at = match rule {
            RegisterRule::Offset(offset) => frame.wrapping_add_signed(*offset),
            RegisterRule::Expression(expression) => evaluated(expression)?,
            _ => {
                let value = match rule {
                    RegisterRule::SameValue => registers.in_register(register),
                    RegisterRule::Register(other) => registers.in_register(*other),
                    RegisterRule::ValOffset(offset) => Some(frame.wrapping_add_signed(*offset)),
                    RegisterRule::ValExpression(expression) => Some(evaluated(expression)?),
                    RegisterRule::Constant(value) => Some(*value),
                    _ => None,
                };
                return Ok((None, value));
            }
        };
        Ok((Some(saved_at), process.word(saved_at)))
    }
}

/// Returns the caller of a method that the runtime compiled. The frame pointer leads to the saved
/// frame pointer and the return address.
fn leave_compiled(registers: &Registers, process: &mut dyn Process) -> Result<Left, StackEnd> {
    let frame = registers.get(FRAME_POINTER).ok_or(StackEnd::RegisterUnknown)?;
    let before = registers.get(STACK_POINTER).unwrap_or(0);
    if frame < before {
        return Err(StackEnd::Wrong);
    }
    let callers_frame = process.word(frame).ok_or(StackEnd::StackUnread)?;
    let return_address = process.word(frame.saturating_add(8)).ok_or(StackEnd::StackUnread)?;
    let mut callers = Registers::unknown();
    callers.set(FRAME_POINTER, Some(callers_frame));
    callers.set(STACK_POINTER, Some(frame.saturating_add(16)));
    match plain(return_address) {
        0 => Err(StackEnd::Start),
        address => Ok((callers, address, true)),
    }
}

fn evaluate(
    expression: &UnwindExpression<usize>,
    entry: &Entry<'_>,
    frames: &EhFrame<Bytes<'_>>,
    first: Option<u64>,
    registers: &Registers,
    process: &mut dyn Process,
) -> Result<u64, StackEnd> {
    let expression = expression.get(frames).map_err(|_| StackEnd::Wrong)?;
    let mut evaluation = expression.evaluation(entry.cie().encoding());
    evaluation.set_max_iterations(MAX_STEPS);
    if let Some(first) = first {
        evaluation.set_initial_value(first);
    }
    let mut state = evaluation.evaluate().map_err(|_| StackEnd::Wrong)?;
    loop {
        let next = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.in_register(register).ok_or(StackEnd::RegisterUnknown)?;
                evaluation.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                let value = process.word(address).ok_or(StackEnd::StackUnread)?;
                evaluation.resume_with_memory(Value::Generic(value))
            }
            _ => return Err(StackEnd::Wrong),
        };
        state = next.map_err(|_| StackEnd::Wrong)?;
    }
    match evaluation.value_result() {
        Some(Value::Generic(value)) => Ok(value),
        _ => Err(StackEnd::Wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A process for tests, which has this stack. Addresses below 100 are code that the runtime
    /// compiled.
    struct MadeStack(BTreeMap<u64, u64>);

    impl Process for MadeStack {
        fn word(&mut self, address: u64) -> Option<u64> {
            self.0.get(&address).copied()
        }

        fn code(&mut self, address: u64) -> Code {
            if (1..100).contains(&address) { Code::Compiled } else { Code::None }
        }

        fn bytes(&self, _: u64, _: usize) -> Vec<u8> {
            Vec::new()
        }
    }

    fn callers(frame: u64, words: &[(u64, u64)]) -> Result<(u64, u64), StackEnd> {
        let mut process = MadeStack(words.iter().copied().collect());
        let mut registers = Registers::unknown();
        registers.set(STACK_POINTER, Some(1000));
        registers.set(FRAME_POINTER, (frame != 0).then_some(frame));
        let left = leave_compiled(&registers, &mut process);
        left.map(|(callers, address, _)| (address, callers.get(STACK_POINTER).unwrap()))
    }

    #[test]
    fn compiled_code_is_left_by_the_frame_pointer() {
        assert_eq!(callers(1008, &[(1008, 2000), (1016, 42)]), Ok((42, 1024)));
        assert_eq!(callers(1008, &[(1008, 2000), (1016, 0)]), Err(StackEnd::Start));
        assert_eq!(callers(1008, &[(1008, 2000)]), Err(StackEnd::StackUnread));
        assert_eq!(callers(1008, &[]), Err(StackEnd::StackUnread));
        assert_eq!(callers(u64::MAX - 3, &[]), Err(StackEnd::StackUnread));
    }

    #[test]
    fn a_frame_pointer_that_is_unknown_or_leads_back_ends_the_stack() {
        assert_eq!(callers(0, &[]), Err(StackEnd::RegisterUnknown));
        assert_eq!(callers(992, &[(992, 2000), (1000, 42)]), Err(StackEnd::Wrong));
    }

    #[test]
    fn an_instruction_outside_of_code_is_the_only_frame() {
        let (steps, end) = unwind(1000, 5000, &mut MadeStack(BTreeMap::new()));
        assert_eq!((steps.len(), end), (1, StackEnd::NoCode));
        let (steps, end) = unwind(1000, 50, &mut MadeStack(BTreeMap::new()));
        assert_eq!((steps.len(), end), (1, StackEnd::RegisterUnknown));
        assert!(steps[0].is_compiled);
    }
}
