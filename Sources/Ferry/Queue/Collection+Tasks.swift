extension Collection where Element: Sendable {
    /// Runs `body` for each element in its own task, at most `most` at a time; returns the results in no order.
    package func concurrently<Result: Sendable>(
        atMost most: Int = 64, _ body: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: Result.self) { group in
            var results: [Result] = []
            results.reserveCapacity(count)
            for (index, element) in enumerated() {
                if index >= most, let result = await group.next() { results.append(result) }
                group.addTask { await body(element) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }
}
