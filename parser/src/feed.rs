//! Reads a stream without blocking: the caller pushes bytes as they arrive, and takes events
//! out.

use crate::error::Error;
use crate::event::Event;
use crate::held::Held;
use crate::limits::Limits;
use crate::order::TimeOrdered;
use crate::outcome::Outcome;
use crate::reader::Reader;
use crate::source::Source;
use std::io;

/// Reads a stream whose bytes are pushed: by an async runtime, an event loop, a browser.
///
/// [`Feed::push`] accepts pieces of any size. [`Feed::next_event`] returns the events that are
/// complete, then `None` until more bytes are pushed. [`Feed::end`] marks the end of the
/// input. [`Feed::reader`] returns the [`Reader`], which has damage, losses and all other facts.
///
/// ```
/// use nettrace_parser::Feed;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut feed = Feed::new();
/// let mut names = Vec::new();
/// for piece in bytes.chunks(100) {
///     feed.push(piece);
///     feed.for_each(|event| names.push(event.name().to_owned()))?;
/// }
/// feed.end();
/// feed.for_each(|event| names.push(event.name().to_owned()))?;
/// assert_eq!(names, ["Hi", "Hi", "Go", "Hi"]);
/// assert!(feed.is_ended() && feed.reader().is_complete());
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// # With an async runtime
///
/// The task that reads the socket owns the feed, so no lock is needed. With tokio, `read` below is
/// `AsyncReadExt::read`; for a timeout, use `tokio::time::timeout`:
///
/// ```
/// # use std::future::Future;
/// # struct Socket<'d>(&'d [u8]);
/// # impl Socket<'_> {
/// #     async fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
/// #         std::io::Read::read(&mut self.0, buffer)
/// #     }
/// # }
/// use nettrace_parser::Feed;
///
/// async fn watch(mut socket: Socket<'_>) -> Result<u64, Box<dyn std::error::Error>> {
///     let mut feed = Feed::new().time_ordered();
///     let mut buffer = vec![0; 64 * 1024];
///     loop {
///         match socket.read(&mut buffer).await? {
///             0 => feed.end(),
///             // Where nothing came for a while: `feed.release()` instead.
///             count => feed.push(&buffer[..count]),
///         }
///         while let Some(event) = feed.next_event()? {
///             println!("{:?} {}/{}", event.nanos(), event.provider(), event.id());
///         }
///         if feed.is_ended() {
///             return Ok(feed.reader().losses().total());
///         }
///     }
/// }
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// # let mut future = std::pin::pin!(watch(Socket(&bytes)));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let std::task::Poll::Ready(lost) = future.as_mut().poll(&mut context) else { panic!("it never waits") };
/// # assert_eq!(lost.unwrap(), 1);
/// ```
///
/// # Memory
///
/// If all events are taken after each push, a feed holds the last piece and the block that is
/// being read, of at most [`Limits::block_bytes`](crate::Limits::block_bytes); blocks of
/// .NET are below 100 KiB. In time order, it also holds the blocks of all queued events, up to
/// [`Limits::queue_bytes`](crate::Limits::queue_bytes).
#[derive(Debug)]
#[must_use]
pub struct Feed {
    order: FeedOrder,
}

#[derive(Debug)]
enum FeedOrder {
    File(Box<Reader<Pushed>>),
    Time(Box<TimeOrdered<Pushed>>),
}

impl Default for Feed {
    fn default() -> Self {
        Feed::new()
    }
}

impl Feed {
    /// Creates a feed that returns events in stream order.
    pub fn new() -> Feed {
        Feed::with_limits(Limits::default())
    }

    /// Creates a feed that returns events in stream order, with these limits.
    pub fn with_limits(limits: Limits) -> Feed {
        let reader = Reader::with_limits(Pushed::default(), limits);
        Feed { order: FeedOrder::File(Box::new(reader)) }
    }

    /// Returns a feed with the same limits that returns events in time order, as [`TimeOrdered`]
    /// does. Must be called before bytes are pushed.
    pub fn time_ordered(self) -> Feed {
        let order = match self.order {
            FeedOrder::File(reader) => FeedOrder::Time(Box::new(reader.time_ordered())),
            order @ FeedOrder::Time(_) => order,
        };
        Feed { order }
    }

    /// Appends a copy of the next bytes of the stream. Bytes pushed after [`Feed::end`] are
    /// ignored.
    pub fn push(&mut self, bytes: &[u8]) {
        self.source_mut().push(bytes);
    }

    /// Marks the end of the input. [`Feed::next_event`] then returns the events that are still
    /// queued.
    pub fn end(&mut self) {
        self.source_mut().is_ended = true;
    }

    /// Makes a feed in time order return all queued events, for example when no bytes have
    /// arrived for a while. See [`TimeOrdered::release`].
    pub fn release(&mut self) {
        if let FeedOrder::Time(ordered) = &mut self.order {
            ordered.release();
        }
    }

    /// Returns the next event. `None` if more bytes are needed or, once
    /// [`Feed::is_ended`], if there are no more events.
    ///
    /// # Errors
    /// [`Error::Format`] if the beginning of the stream cannot be read. All further calls
    /// return this error, too.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        let event = match &mut self.order {
            FeedOrder::File(reader) => reader.next_event(),
            FeedOrder::Time(ordered) => ordered.next_event(),
        };
        match event {
            Err(error) if error.is_would_block() => Ok(None),
            event => event,
        }
    }

    /// Passes all events that are complete to `take`, as [`Feed::next_event`] returns them.
    ///
    /// # Errors
    /// As [`Feed::next_event`].
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        while let Some(event) = self.next_event()? {
            take(event);
        }
        Ok(())
    }

    /// Returns whether everything was read and all events were returned: the stream's end
    /// mark arrived, or [`Feed::end`] was called.
    pub fn is_ended(&self) -> bool {
        let waiting = match &self.order {
            FeedOrder::File(_) => 0,
            FeedOrder::Time(ordered) => ordered.waiting(),
        };
        waiting == 0 && self.reader().end_offset().is_some()
    }

    /// Returns the reader, for everything except events.
    pub fn reader(&self) -> &Reader<impl Source + use<>> {
        match &self.order {
            FeedOrder::File(reader) => reader,
            FeedOrder::Time(ordered) => ordered.reader(),
        }
    }

    fn reader_mut(&mut self) -> &mut Reader<Pushed> {
        match &mut self.order {
            FeedOrder::File(reader) => reader,
            FeedOrder::Time(ordered) => ordered.reader_mut(),
        }
    }

    fn source_mut(&mut self) -> &mut Pushed {
        self.reader_mut().source_mut()
    }

    /// Returns the result so far, as [`Reader::outcome`] does.
    pub fn outcome(&self) -> Outcome {
        match &self.order {
            FeedOrder::File(reader) => reader.outcome(),
            FeedOrder::Time(ordered) => ordered.outcome(),
        }
    }
}

/// Source of the bytes that were pushed and are still needed.
#[derive(Debug, Default)]
struct Pushed {
    held: Held,
    /// Position before which bytes are not needed; it may lie after the bytes pushed so far.
    wanted_from: u64,
    is_ended: bool,
}

impl Pushed {
    fn push(&mut self, bytes: &[u8]) {
        if self.is_ended {
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = self.held.end().saturating_add(rest.len() as u64);
            let room = self.held.room_towards(end, 0);
            let (now, later) = rest.split_at(rest.len().min(room.len()));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.held.add_written(now.len());
            rest = later;
        }
        self.held.release(self.wanted_from);
    }
}

impl Source for Pushed {
    #[inline]
    fn start(&self) -> u64 {
        self.held.start()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.held.bytes()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        match end <= self.held.end() {
            true => Ok(true),
            false if self.is_ended => Ok(false),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }

    fn release(&mut self, before: u64) {
        self.wanted_from = self.wanted_from.max(before);
        self.held.release(before);
    }
}
