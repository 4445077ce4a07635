package import FerryCore

/// The members of ``FerryCore/DownloadPlan``; null where unknown.
package struct PlanBody: Sendable, Hashable {
    package var plan: DownloadPlan
    package init(_ plan: DownloadPlan) { self.plan = plan }
}

extension PlanBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, url, totalBytes, acceptsRanges, validator, validatorStrength, digests, contentType, freeBytes
        case resumability, reason, heldBytes, maxConnections
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        plan = DownloadPlan(
            name: try members.decode(String.self, forKey: .name), url: try members.decode(String.self, forKey: .url),
            totalBytes: try members.decodeIfPresent(ByteCount.self, forKey: .totalBytes),
            acceptsRanges: try members.decode(Bool.self, forKey: .acceptsRanges),
            validator: try members.decodeIfPresent(String.self, forKey: .validator),
            validatorStrength: try members.decode(DownloadPlan.ValidatorStrength.self, forKey: .validatorStrength),
            digests: try members.decode([String].self, forKey: .digests).compactMap { try? Checksum(parsing: $0) },
            contentType: try members.decodeIfPresent(String.self, forKey: .contentType),
            freeBytes: try members.decodeIfPresent(ByteCount.self, forKey: .freeBytes),
            resumability: try members.decode(DownloadPlan.Resumability.self, forKey: .resumability),
            reason: try members.decode(String.self, forKey: .reason),
            heldBytes: try members.decodeIfPresent(ByteCount.self, forKey: .heldBytes),
            maxConnections: try members.decode(Int.self, forKey: .maxConnections))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(plan.name, forKey: .name)
        try members.encode(plan.url, forKey: .url)
        try members.encode(plan.totalBytes, forKey: .totalBytes)
        try members.encode(plan.acceptsRanges, forKey: .acceptsRanges)
        try members.encode(plan.validator, forKey: .validator)
        try members.encode(plan.validatorStrength, forKey: .validatorStrength)
        try members.encode(plan.digests.map(\.description), forKey: .digests)
        try members.encode(plan.contentType, forKey: .contentType)
        try members.encode(plan.freeBytes, forKey: .freeBytes)
        try members.encode(plan.resumability, forKey: .resumability)
        try members.encode(plan.reason, forKey: .reason)
        try members.encode(plan.heldBytes, forKey: .heldBytes)
        try members.encode(plan.maxConnections, forKey: .maxConnections)
    }
}
