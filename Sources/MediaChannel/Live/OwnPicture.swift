import IoTCore
import MediaPlayer
import RTP

/// What a live channel's user shows to the device: one of this gateway's cameras at a time, or none. Confined to the
/// channel's event loop.
final class OwnPicture {
    private let feed: CallFeed
    private let capabilities: PlayerCapabilities
    private let onLoss: (IoTError) -> Void
    /// The number of the newest change, and of the one that is shown.
    private var newest = 0
    private var shown = 0
    /// Why the camera has ended what the newest change was about to show.
    private var loss: IoTError?
    private var showing: OwnCamera.Showing?
    /// The name of the camera that is shown.
    private(set) var camera: String?
    private var isClosed = false

    /// - Parameter onLoss: Called if the camera ends what is shown.
    init(feed: CallFeed, capabilities: PlayerCapabilities, onLoss: @escaping (IoTError) -> Void) {
        self.feed = feed
        self.capabilities = capabilities
        self.onLoss = onLoss
    }

    /// Begins a change. What is shown stays until the change has its first packet. A newer change replaces it.
    ///
    /// - Returns: The number of the change.
    /// - Throws: `operationNotAllowed` if the channel is not live; `hungUp` after its end.
    func beginChange() throws(IoTError) -> Int {
        try capabilities.require(.twoWayVideo)
        guard !isClosed else { throw IoTError(.hungUp, "the channel was closed") }
        newest += 1
        loss = nil
        return newest
    }

    /// - Throws: `operationNotAllowed` if the call was agreed on with another format.
    func requireFitting(_ codec: RTPCodec) throws(IoTError) {
        guard let agreed = feed.pictureCodec else {
            throw IoTError(
                .operationNotAllowed, "the called device does not accept pictures in the format of this camera",
                remedy: "show a camera with H.264")
        }
        guard agreed.format == codec.format else {
            throw IoTError(
                .operationNotAllowed, "the call was opened for pictures of another format than this camera's",
                remedy: "open a new channel with this camera")
        }
    }

    func send(_ packets: [MediaPacket], _ number: Int) {
        guard !isClosed, number == shown || number == newest else { return }
        turn(to: number)
        feed.sendPictures(packets)
    }

    /// - Throws: `hungUp` if a newer change has replaced this one, or the channel has ended; the reason if the camera has
    ///   ended it already.
    func began(_ showing: OwnCamera.Showing, _ camera: String, _ number: Int) throws(IoTError) {
        guard !isClosed, number == newest else {
            throw IoTError(.hungUp, "a newer change replaced this one, or the channel was closed")
        }
        if let loss { throw loss }
        turn(to: number)
        self.showing = showing
        self.camera = camera
    }

    /// Shows nothing.
    func hide(_ number: Int) {
        if number == newest { turn(to: number) }
    }

    /// The camera has ended it.
    func ended(_ number: Int, _ reason: IoTError) {
        guard !isClosed else { return }
        guard let showing, number == shown else {
            if number == newest { loss = reason }
            return
        }
        showing.end()
        (self.showing, camera) = (nil, nil)
        onLoss(reason)
    }

    private func turn(to number: Int) {
        guard number != shown else { return }
        showing?.end()
        (showing, camera) = (nil, nil)
        shown = number
        feed.beginPictures()
    }

    /// The channel has ended.
    func close() {
        isClosed = true
        showing?.end()
        (showing, camera) = (nil, nil)
    }
}
