use nettrace_writer::{
    EventType, FieldType, Recording, Session, SessionThread, Step, Value, Version,
};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_feed::{Watched, watch};

/// Returns 5,000 events of two threads, whose runs overlap in each batch.
fn recording() -> Recording {
    let steps = (0..5_000).flat_map(|n| {
        let event = Step::event(0, n % 2, 10, [Value::I32(n as i32)]);
        [Some(event), (n % 100 == 99).then_some(Step::Flush)]
    });
    Session {
        types: vec![EventType::new("Shop", 1, "Sold").field("pieces", FieldType::Int32)],
        threads: vec![SessionThread::new(11), SessionThread::new(12)],
        steps: steps
            .flatten()
            .chain([Step::Lose { thread: 1, count: 3 }, Step::sequence_point()])
            .collect(),
        ..Session::new(Version::V4)
    }
    .record()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn two_sockets_are_read_by_one_thread_while_their_bytes_come_in_pieces() {
    let recording = recording();
    let expected: Vec<u64> =
        recording.time_order().into_iter().map(|at| recording.events[at].blob.ticks).collect();
    let bytes = recording.stream.bytes;
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let send = async |piece: usize| {
            let (mut socket, _) = listener.accept().await.unwrap();
            for piece in bytes.chunks(piece) {
                socket.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let read = async || {
            let socket = TcpStream::connect(address).await.unwrap();
            let mut ticks = Vec::new();
            let watched =
                watch(socket, Duration::from_secs(60), |event| ticks.push(event.timestamp_ticks()))
                    .await
                    .unwrap();
            (watched, ticks)
        };
        let ((), (), first, second) = tokio::join!(send(777), send(4096), read(), read());
        for (watched, ticks) in [first, second] {
            assert_eq!(watched, Watched { lost: 3, is_complete: true });
            assert_eq!(ticks, expected);
        }
    });
}

#[test]
fn events_that_wait_for_older_ones_are_given_when_nothing_comes() {
    let recording = recording();
    let bytes = recording.stream.bytes;
    // Without the sequence point and the end: both would say that no older event follows.
    let most = recording.stream.parts[recording.stream.parts.len() - 2].start;
    run(async {
        let (mut to, from) = tokio::io::duplex(1 << 20);
        let mut seen = 0;
        let sender = async {
            to.write_all(&bytes[..most]).await.unwrap();
            // This is much longer than the patience.
            tokio::time::sleep(Duration::from_millis(300)).await;
            drop(to);
        };
        let reader = watch(from, Duration::from_millis(20), |_| seen += 1);
        let ((), watched) = tokio::join!(sender, reader);
        assert!(!watched.unwrap().is_complete);
        assert_eq!(seen, 5_000);
    });
}
