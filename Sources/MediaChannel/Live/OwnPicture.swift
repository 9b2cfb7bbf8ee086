import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import RTP

/// What a live channel's user shows to the device: one of this gateway's cameras at a time, a program's pictures, or
/// nothing. Confined to the channel's event loop.
final class OwnPicture {
    private let feed: CallFeed
    private let capabilities: PlayerCapabilities
    private let parts: PlayerParts
    private let onLoss: (IoTError) -> Void
    /// The number of the newest change, and of the one that is shown.
    private var newest = 0
    private var shown = 0
    /// Why cameras have ended what changes were about to show, by the change's number.
    private var losses: [Int: IoTError] = [:]
    /// Ends what is shown.
    private var end: (() -> Void)?
    /// The name of the camera that is shown.
    private(set) var camera: String?
    /// Why the channel has ended.
    private var closeReason: IoTError?

    /// - Parameter onLoss: Called if the camera, or the program's source, ends what is shown for a reason.
    init(
        feed: CallFeed, capabilities: PlayerCapabilities, parts: PlayerParts = PlayerParts(),
        onLoss: @escaping (IoTError) -> Void
    ) {
        self.feed = feed
        self.capabilities = capabilities
        self.parts = parts
        self.onLoss = onLoss
    }

    /// Begins a change. What is shown stays until the change has its first packet. A newer change replaces it.
    ///
    /// - Returns: The number of the change.
    /// - Throws: `operationNotAllowed` if the channel is not live; after its end the reason of the end.
    func beginChange() throws(IoTError) -> Int {
        try capabilities.require(.twoWayVideo)
        if let closeReason { throw closeReason }
        newest += 1
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

    /// Shows the pictures of a source, and closes it at the end.
    ///
    /// - Throws: As `beginChange` and `requireFitting`.
    func show(_ source: any PictureSource, on eventLoop: any EventLoop) throws(IoTError) {
        do throws(IoTError) {
            let number = try beginChange()
            try requireFitting(PictureSender.codec)
            let sender = PictureSender(
                source, eventLoop: eventLoop, parts: parts,
                send: { [weak self] in self?.send($0, number) },
                onEnd: { [weak self] in self?.ended(number, $0) })
            try began(nil, number) { sender.end(nil) }
            sender.run()
        } catch {
            source.close()
            throw error
        }
    }

    func send(_ packets: [MediaPacket], _ number: Int) {
        guard closeReason == nil, number == shown || number == newest else { return }
        turn(to: number)
        feed.sendPictures(packets)
    }

    /// The camera of a change is open. Its pictures may have come before.
    ///
    /// - Parameters:
    ///   - camera: Its name; `nil` for a program's pictures.
    ///   - end: Called when the device gets these pictures no more.
    /// - Throws: `hungUp` if a newer change has replaced this one; the reason if the channel has ended, or the camera
    ///   has ended it already.
    func began(_ camera: String?, _ number: Int, end: @escaping () -> Void) throws(IoTError) {
        if let reason = closeReason ?? losses.removeValue(forKey: number) { throw reason }
        // A newer change may still fail, and then this one, whose pictures are sent already, stays.
        guard number == newest || number == shown else {
            throw IoTError(.hungUp, "a newer change replaced this one")
        }
        turn(to: number)
        self.end = end
        self.camera = camera
    }

    /// Shows nothing.
    func hide(_ number: Int) {
        if number == newest { turn(to: number) }
    }

    /// The camera, or the program's source, has ended it.
    ///
    /// - Parameter reason: `nil` for a source without more pictures.
    func ended(_ number: Int, _ reason: IoTError?) {
        guard closeReason == nil else { return }
        guard end != nil, number == shown else {
            if number >= shown { losses[number] = reason }
            return
        }
        endShown()
        if let reason { onLoss(reason) }
    }

    private func turn(to number: Int) {
        guard number != shown else { return }
        endShown()
        shown = number
        losses = losses.filter { $0.key >= number }
        feed.beginPictures()
    }

    private func endShown() {
        let end = end
        (self.end, camera) = (nil, nil)
        end?()
    }

    /// The channel has ended. The first reason stays.
    func close(_ reason: IoTError) {
        closeReason = closeReason ?? reason
        endShown()
    }
}
