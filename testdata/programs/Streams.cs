// A server that speaks HTTP/2 without TLS and allows few streams at a time, and a client of it in the same process. The
// client makes a new connection and asks often at once (`/cold/`), and asks as often again when the limit is known (`/warm/`).
// usage: Streams STREAMS REQUESTS MILLISECONDS; it waits for a line before and after its requests.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Streams
{
    static readonly SemaphoreSlim Writing = new SemaphoreSlim(1);

    static void Main(string[] args)
    {
        Run(int.Parse(args[0]), int.Parse(args[1]), int.Parse(args[2])).Wait();
    }

    static async Task Run(int streams, int requests, int delay)
    {
        AppContext.SetSwitch("System.Net.Http.SocketsHttpHandler.Http2UnencryptedSupport", true);
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        string url = "http://127.0.0.1:" + ((IPEndPoint)listener.LocalEndpoint).Port;
        var accepting = Accept(listener, streams, delay);
        using (var before = new HttpClient())
            for (int i = 0; i < 3; i++) await Ask(before, url + "/before");
        Console.WriteLine("ready");
        Console.In.ReadLine();
        var http = new HttpClient();
        foreach (string path in new[] { "/cold/", "/warm/" })
        {
            var all = new List<Task>();
            for (int i = 1; i <= requests; i++) all.Add(Ask(http, url + path + i));
            await Task.WhenAll(all.ToArray());
        }
        Console.WriteLine("done");
        Console.In.ReadLine();
    }

    static async Task Ask(HttpClient http, string url)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, url) { Version = new Version(2, 0) };
        // Mono's assemblies, against which this is compiled, do not have the property.
        var policy = typeof(HttpRequestMessage).GetProperty("VersionPolicy");
        policy.SetValue(request, Enum.ToObject(policy.PropertyType, 2));
        using (var response = await http.SendAsync(request)) await response.Content.ReadAsStringAsync();
    }

    static async Task Accept(TcpListener listener, int streams, int delay)
    {
        while (true)
        {
            var client = await listener.AcceptTcpClientAsync();
            var serving = Serve(client.GetStream(), streams, delay);
        }
    }

    static async Task Serve(NetworkStream stream, int streams, int delay)
    {
        var buffer = new byte[1 << 20];
        await Fill(stream, buffer, 24);
        // SETTINGS with MAX_CONCURRENT_STREAMS.
        await Send(stream, new byte[] { 0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, (byte)streams });
        while (await Fill(stream, buffer, 9))
        {
            int length = buffer[0] << 16 | buffer[1] << 8 | buffer[2];
            byte kind = buffer[3], flags = buffer[4];
            var id = new[] { buffer[5], buffer[6], buffer[7], buffer[8] };
            if (!await Fill(stream, buffer, length)) return;
            bool isAck = (flags & 1) != 0;
            if (kind == 1)
            {
                var answering = Answer(stream, id, delay);
            }
            else if (kind == 4 && !isAck)
            {
                await Send(stream, new byte[] { 0, 0, 0, 4, 1, 0, 0, 0, 0 });
            }
            else if (kind == 6 && !isAck)
            {
                var ping = new byte[17];
                ping[2] = 8;
                ping[3] = 6;
                ping[4] = 1;
                Array.Copy(buffer, 0, ping, 9, 8);
                await Send(stream, ping);
            }
        }
    }

    static async Task Answer(NetworkStream stream, byte[] id, int delay)
    {
        await Task.Delay(delay);
        // HEADERS with status 200, then DATA that ends the stream.
        await Send(stream, new byte[] { 0, 0, 1, 1, 4, id[0], id[1], id[2], id[3], 0x88 });
        await Task.Delay(delay / 4);
        await Send(stream, new byte[] { 0, 0, 2, 0, 1, id[0], id[1], id[2], id[3], (byte)'o', (byte)'k' });
    }

    static async Task<bool> Fill(Stream from, byte[] into, int count)
    {
        for (int have = 0; have < count;)
        {
            int got = await from.ReadAsync(into, have, count - have);
            if (got == 0) return false;
            have += got;
        }
        return true;
    }

    static async Task Send(NetworkStream stream, byte[] bytes)
    {
        await Writing.WaitAsync();
        try { await stream.WriteAsync(bytes, 0, bytes.Length); }
        finally { Writing.Release(); }
    }
}
