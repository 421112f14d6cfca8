// HTTP requests one after the other, each with a client of its own (`anew`) or all with one (`kept`).
using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading;

static class Connections
{
    static void Serve(TcpListener listener)
    {
        while (true)
        {
            var client = listener.AcceptTcpClient();
            new Thread(() => Answer(client)) { IsBackground = true }.Start();
        }
    }

    static void Answer(TcpClient client)
    {
        using (client)
        {
            var reader = new StreamReader(client.GetStream(), Encoding.ASCII);
            var answer = Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            try
            {
                while (reader.ReadLine() is string line)
                {
                    if (line.Length == 0) client.GetStream().Write(answer, 0, answer.Length);
                }
            }
            catch (IOException) { }
        }
    }

    static void Main(string[] args)
    {
        bool anew = args[0] == "anew";
        int count = int.Parse(args[1]);
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        new Thread(() => Serve(listener)) { IsBackground = true }.Start();
        string url = "http://localhost:" + ((IPEndPoint)listener.LocalEndpoint).Port + "/stock/";
        var kept = new HttpClient();
        for (int i = 0; i < count; i++)
        {
            var client = anew ? new HttpClient() : kept;
            client.GetStringAsync(url + i).Wait();
            Thread.Sleep(5);
            if (anew && i % 2 == 0) client.Dispose();
        }
    }
}
