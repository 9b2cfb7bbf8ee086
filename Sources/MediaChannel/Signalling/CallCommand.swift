/// What a viewer asks of a connected channel.
enum CallCommand: String {
    case play
    case stop
}
