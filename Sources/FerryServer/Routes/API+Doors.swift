import FerryAPI
import HummingbirdCore

/// The routes of doors.
extension API {
    /// Throws `noSuchPath` if the program has no such door, and the error of the door's kind if the settings do not enable it.
    func askDoor(_ call: APIRequest) async throws -> Response {
        guard let doors = doors.opened else { throw Problem(.noSuchPath) }
        return try Answer.json(try await doors.answer(DoorCall(call, budgets[call])))
    }
}
