import IoTCore

/// The places for viewers of a camera, and the calls that are still connecting.
///
/// A call takes its place when its connection is established, so calls that never connect block nobody. Each account
/// may have a few connecting calls and at most half of the places. This does not apply to the device's owner, for whom
/// there are reserve places beyond the maximum. A viewer never loses its place to another.
struct ViewerPlaces: Equatable {
    /// Places beyond `maximum`, for the owner only.
    static let reserve = 2

    /// The maximum number of one account's connecting calls.
    static let unconnectedByAccount = 3

    /// The maximum number of connecting calls of all accounts but the owner. The owner may have as many as there are
    /// places.
    static let unconnectedByOthers = 16

    private struct Call: Equatable {
        let user: String
        let isOwner: Bool
        var isConnected = false
    }

    /// If it is lowered, current viewers stay.
    var maximum: Int

    private var calls: [String: Call] = [:]

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Adds a call that is connecting.
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
                remedy: "end yours, or wait 10 seconds: a call that does not connect ends by itself")
        }
        calls[session] = Call(user: user, isOwner: isOwner)
    }

    /// Gives a connected call its place. Has no effect if the call has one.
    ///
    /// - Throws: `allChannelsBusy` if the places were taken meanwhile; the call must then end.
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
        // Rounded up, so that a camera with one place can be watched.
        let share = (maximum + 1) / 2
        guard isOwner || watching.count(where: { $0.user == user }) < share else {
            throw IoTError(
                .allChannelsBusy, "your account already has \(share) of the camera's \(maximum) places",
                remedy: "end one of your own calls, or ask the device's owner for more places")
        }
    }
}
