import IoTCore

/// Who may watch a camera: its places, and the calls that are still being connected.
///
/// A call takes its place when its connection stands, so that calls which never connect shut nobody out. Each account
/// may have some of those, and of the places no more than half, but for the owner of the device, for whom there are
/// some beyond the greatest number. Nobody who has a place loses it to another.
struct ViewerPlaces: Equatable {
    /// Beyond `maximum`, for the owner alone.
    static let reserve = 2

    /// Calls of one account that are not connected yet.
    static let unconnectedByAccount = 3

    /// The same of all accounts but the owner's, who may have as many calls as places.
    static let unconnectedByOthers = 16

    private struct Call: Equatable {
        let user: String
        let isOwner: Bool
        var isConnected = false
    }

    /// Who watches now stays when it falls.
    var maximum: Int

    private var calls: [String: Call] = [:]

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// One more call, which has yet to connect.
    ///
    /// - Throws: `allChannelsBusy`.
    mutating func add(session: String, user: String, isOwner: Bool) throws(IoTError) {
        try requirePlace(user: user, isOwner: isOwner)
        let waiting = calls.values.filter { !$0.isConnected }
        let own = waiting.count { $0.user == user }
        let isRefused =
            isOwner
            ? own >= maximum + Self.reserve
            : own >= Self.unconnectedByAccount || waiting.count { !$0.isOwner } >= Self.unconnectedByOthers
        guard !isRefused else {
            throw IoTError(
                .allChannelsBusy, "too many calls to this camera are still being connected",
                remedy: "end them, or wait 10 seconds: a call that does not connect ends by itself")
        }
        calls[session] = Call(user: user, isOwner: isOwner)
    }

    /// The call's connection stands: it takes its place. A second time changes nothing.
    ///
    /// - Throws: `allChannelsBusy` when others were faster; the call is to end then.
    mutating func connected(session: String) throws(IoTError) {
        guard let call = calls[session], !call.isConnected else { return }
        try requirePlace(user: call.user, isOwner: call.isOwner)
        calls[session]?.isConnected = true
    }

    mutating func remove(session: String) {
        calls[session] = nil
    }

    private func requirePlace(user: String, isOwner: Bool) throws(IoTError) {
        let watching = calls.values.filter(\.isConnected)
        guard watching.count < maximum + (isOwner ? Self.reserve : 0) else {
            throw IoTError(.allChannelsBusy, "the camera already serves \(watching.count) viewers")
        }
        // Rounded up, so that a camera for one viewer can be watched.
        let share = (maximum + 1) / 2
        guard isOwner || watching.count(where: { $0.user == user }) < share else {
            throw IoTError(
                .allChannelsBusy, "your account already has \(share) of the camera's \(maximum) places",
                remedy: "end one of your own calls, or ask the device's owner for more places")
        }
    }
}
