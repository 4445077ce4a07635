/// A number of bytes, never negative; sizes, offsets and lengths are all counted in it.
public typealias ByteCount = Int64
