// The part of ObjectiveC that Ferry uses.
import Darwin
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
