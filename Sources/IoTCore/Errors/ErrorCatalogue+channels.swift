extension ErrorCatalogue {
    /// Channels (21020–21026): the SDK guide's connection table.
    static let channels: [Entry] = [
        Entry(
            .tooManyConnections, "tooManyConnections", "the gateway's limit of connections is reached",
            remedy: "close one or raise `channels.connections`"),
        Entry(
            .duplicateChannel, "duplicateChannel", "this channel is already open",
            remedy: "use the one that is open"),
        Entry(
            .connectFailed, "connectFailed", "the channel could not be opened",
            remedy: "look at the reason beside it, and at `iotctl status`"),
        Entry(.channelDisconnected, "channelDisconnected", "the channel is not connected", remedy: "open it again"),
        Entry(.dataTooLong, "dataTooLong", "the data are longer than 64,000 bytes", remedy: "send them in pieces"),
        Entry(
            .linkUnavailable, "linkUnavailable", "the link to the hub is not online",
            remedy: "look at `iotctl status` for its state and reason"),
        Entry(
            .channelSendFailed, "channelSendFailed", "the data could not be sent over the channel",
            remedy: "open the channel again"),
    ]
}
