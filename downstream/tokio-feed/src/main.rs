//! `tokio-feed ADDRESS`: prints the events of a trace that another program sends, such as
//! `nc -l 4711 < TRACE`.

use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let address = std::env::args().nth(1).ok_or("usage: tokio-feed ADDRESS")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let watched = runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(address).await?;
        tokio_feed::watch(socket, Duration::from_millis(200), |event| {
            println!("{:?} {}/{}", event.nanos(), event.provider(), event.display_name());
        })
        .await
    })?;
    println!(
        "{} events lost{}",
        watched.lost,
        if watched.is_complete { "" } else { ", and no end was sent" }
    );
    Ok(())
}
