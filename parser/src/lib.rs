//! Reader of .NET nettrace streams.
