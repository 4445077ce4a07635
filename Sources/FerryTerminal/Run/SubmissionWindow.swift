import Ferry

/// The items not yet submitted, and the free slots of the manager.
struct SubmissionWindow {
    enum Next {
        case request(DownloadRequest, ListPlace?)
        case directory(String)
        case unusable(String, UnusableEntry?)
        /// All items are submitted.
        case end
    }

    /// Where the next item comes from.
    enum Source {
        case iterator(PlannedItems.Iterator)
        /// The ``ItemFeed``: it has given nothing since the last item was taken.
        case empty
        /// The ``ItemFeed``: it has given this item, or the end.
        case given(PlannedItems.Placed?)
    }

    var freePlaces: Int
    var source: Source
    /// The part files of a directory that are not yet submitted, and their request.
    var parts: ArraySlice<String> = []
    var template: DownloadRequest?
    /// Whether there was no item yet.
    private(set) var isEmpty = true

    /// Whether the feed must give an item.
    var needsItem: Bool {
        if case .empty = source { freePlaces > 0 && parts.isEmpty } else { false }
    }

    /// Returns the next item; `nil` if no slot is free, or if the feed has given none.
    mutating func take() -> Next? {
        guard freePlaces > 0 else { return nil }
        if let part = parts.popFirst(), var request = template {
            request.destination = .part(part)
            freePlaces -= 1
            return .request(request, nil)
        }
        let next: PlannedItems.Placed?
        switch source {
        case .iterator(var items):
            source = .empty
            next = items.nextPlaced()
            source = .iterator(items)
        case .empty: return nil
        case .given(let item): (next, source) = (item, .empty)
        }
        if next != nil { isEmpty = false }
        switch next?.item {
        case .request(let request)?:
            freePlaces -= 1
            return .request(request, next?.place)
        case .parts(let directory, let template)?:
            self.template = template
            return .directory(directory)
        case .unusable(let line)?: return .unusable(line, next?.unusable)
        case nil: return .end
        }
    }
}
