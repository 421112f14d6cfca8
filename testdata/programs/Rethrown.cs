// Each of 60,000 rounds throws an exception that 13 callers catch and throw again.
// Recordings of it are known/rethrown (.NET 10, 1000 rounds; assembly again) and known/rethrown-net8 (400 rounds; assembly
// workload). Compiled by Debian's mono-mcs:
//
//   mcs -out:again.dll Rethrown.cs
using System;
using System.Runtime.CompilerServices;

public static class Orders
{
    public static int Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 60000;
        int refused = 0;
        for (int round = 0; round < rounds; round++)
        {
            try
            {
                Pass(13, round);
            }
            catch (InvalidOperationException)
            {
                refused++;
            }
        }
        Console.WriteLine(refused);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pass(int depth, int round)
    {
        if (depth == 0)
        {
            Check(round);
            return;
        }
        try
        {
            Pass(depth - 1, round);
        }
        catch (InvalidOperationException)
        {
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Check(int round)
    {
        throw new InvalidOperationException("order " + round + " has no lines");
    }
}
