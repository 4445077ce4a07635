/// NetworkManager's metered property (its enumeration `NMMetered`).
package enum MeteredAnswer: Int, Sendable, Hashable, CaseIterable {
    case unknown = 0
    case yes = 1
    case no = 2
    case guessYes = 3
    case guessNo = 4
}
