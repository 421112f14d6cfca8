// Work whose processor time the program measures itself, thread by thread, for a comparison with what reports say of it.
// TURNS names the part. A runtime runs it in front of any program (DOTNET_STARTUP_HOOKS). Turns.dll is this file, compiled by
// Debian's mono-mcs:
//
//   mcs -target:library -optimize+ -out:Turns.dll Turns.cs
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Compression;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

internal static class StartupHook
{
    public static void Initialize()
    {
        Console.WriteLine("ready");
        if (Environment.GetEnvironmentVariable("TURNS_WAIT") != null)
            Console.In.ReadLine();
        switch (Environment.GetEnvironmentVariable("TURNS"))
        {
            // Computes and waits by a native call, in turns that are shorter than the time between two readings.
            case "turns": Mill.Run(1, 3000, delegate { Mill.Grind(3); Mill.Rest(3000); }); break;
            case "threads": Mill.Run(6, 2000, delegate { Mill.Grind(20); }); break;
            case "brief": for (int i = 0; i < 500; i++) Mill.Run(1, 0, delegate { Mill.Grind(1); }); break;
            case "many": Mill.Run(500, 4000, delegate { Mill.Grind(1); Thread.Sleep(500); }); break;
            case "native": Mill.Run(1, 2000, delegate { Mill.Press(); }); break;
        }
        Console.WriteLine("Mill.Grind " + Mill.ground);
        Console.WriteLine("Mill.Press " + Mill.pressed);
    }
}

internal static class Mill
{
    internal static long ground, pressed;
    static readonly byte[] apples = new byte[1 << 20];
    static long flour;

    struct Time { public long Seconds, Nanoseconds; }
    [DllImport("libc")] static extern int clock_gettime(int clock, out Time time);
    [DllImport("libc")] static extern int usleep(uint microseconds);

    // The processor time of this thread, in nanoseconds.
    static long Now()
    {
        Time time;
        clock_gettime(3, out time);
        return time.Seconds * 1000000000 + time.Nanoseconds;
    }

    // Runs work on each of the threads, once and until the time is over.
    internal static void Run(int threads, int milliseconds, Action work)
    {
        var clock = Stopwatch.StartNew();
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            all[i] = new Thread(delegate() { do work(); while (clock.ElapsedMilliseconds < milliseconds); });
            all[i].Start();
        }
        foreach (var thread in all) thread.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Grind(int milliseconds)
    {
        long begun = Now(), until = Stopwatch.GetTimestamp() + milliseconds * Stopwatch.Frequency / 1000;
        while (Stopwatch.GetTimestamp() < until)
            for (int i = 0; i < 500; i++) flour += i * 7;
        Interlocked.Add(ref ground, Now() - begun);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Press()
    {
        long begun = Now();
        using (var press = new GZipStream(Stream.Null, CompressionMode.Compress))
            for (int i = 0; i < 4; i++) press.Write(apples, 0, apples.Length);
        Interlocked.Add(ref pressed, Now() - begun);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Rest(uint microseconds)
    {
        usleep(microseconds);
    }
}
