// Keeps almost all that a hard limit of the heap allows, and goes on allocating.
// Recordings of it are known/heap-limit (.NET 10, arguments 86 6000) and known/out-of-memory (.NET 9, 88 6000), with
// DOTNET_GCHeapHardLimit=0x6400000. Compiled by Debian's mono-mcs:
//
//   mcs -out:limit.dll HeapLimit.cs
using System;
using System.Runtime.CompilerServices;

public static class Cache
{
    static byte[][] kept;
    static byte[] last;

    public static int Main(string[] args)
    {
        int mebibytes = int.Parse(args[0]), rounds = int.Parse(args[1]);
        kept = new byte[mebibytes * 256][];
        for (int at = 0; at < kept.Length; at++) kept[at] = new byte[4072];
        long all = 0;
        try
        {
            for (int round = 0; round < rounds; round++) all += Load(round);
        }
        catch (OutOfMemoryException)
        {
            kept = null;
            Console.WriteLine("out of memory");
        }
        Console.WriteLine(all);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Load(int round)
    {
        last = new byte[60000 + round % 7];
        return last.Length;
    }
}
