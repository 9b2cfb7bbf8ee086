import IoTCore
import PeerTransport

/// The part of a peer connection that a control channel needs.
protocol ControlTransport: AnyObject {
    func openDataChannel(
        label: String, subprotocol: String, options: DataChannelOptions
    ) throws(IoTError) -> DataChannel
    func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError)
    func bufferedAmount(of id: DataChannelID) -> Int
    func closeDataChannel(_ id: DataChannelID)
}

extension Peer: ControlTransport {}

extension DataChannelConfiguration {
    /// The data channels of a call. Data fill at most the half of the buffer (`DataFlow.window`), so that messages of
    /// the control channel are always taken.
    static let call = DataChannelConfiguration(
        maximumReceivedMessage: 65_536, maximumSentMessage: 65_536, maximumBufferedBytes: 512 << 10,
        maximumChannels: 8)
}
