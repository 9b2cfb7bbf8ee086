import IoTCore
import MediaPlayer
import RTP

/// What a live channel's user shows to the device: one of this gateway's cameras at a time, or none. Confined to the
/// channel's event loop.
final class OwnPicture {
    private let feed: CallFeed
    private let capabilities: PlayerCapabilities
    private var showing: OwnCamera.Showing?
    /// The name of the camera that is shown.
    private(set) var camera: String?
    /// Counts the changes. What belongs to an earlier one is ignored.
    private var number = 0

    init(feed: CallFeed, capabilities: PlayerCapabilities) {
        self.feed = feed
        self.capabilities = capabilities
    }

    /// Ends what is shown.
    ///
    /// - Returns: The number of the change.
    /// - Throws: `operationNotAllowed` if the channel is not live.
    func change() throws(IoTError) -> Int {
        try capabilities.require(.twoWayVideo)
        end()
        return number
    }

    /// - Throws: `operationNotAllowed` if the call was agreed on with another format.
    func requireFitting(_ codec: RTPCodec) throws(IoTError) {
        guard feed.pictureCodec?.format == codec.format else {
            throw IoTError(
                .operationNotAllowed, "the call was opened for pictures of another format than this camera's",
                remedy: "open a new channel with this camera")
        }
    }

    func began(_ showing: OwnCamera.Showing, _ camera: String, _ number: Int) {
        guard number == self.number else { return showing.end() }
        self.showing = showing
        self.camera = camera
    }

    func send(_ packets: [MediaPacket], _ number: Int) {
        guard number == self.number else { return }
        feed.sendPictures(packets)
    }

    /// The camera has ended it.
    func ended(_ number: Int) {
        if number == self.number { end() }
    }

    func end() {
        showing?.end()
        (showing, camera) = (nil, nil)
        number += 1
        feed.beginPictures()
    }
}
