extension ErrorCatalogue {
    /// The hub's codes (8000–9999): the IoT video SDK guide's access server tables.
    static let hub: [Entry] = [
        Entry(
            .deviceOffline, "deviceOffline", "the device is offline",
            remedy: "check its power and network; reads and property writes work meanwhile, actions and channels do not"
        ),
        Entry(
            .targetNotFound, "targetNotFound", "there is no such device or account",
            remedy: "list what exists with `iotctl device list`"),
        Entry(
            .relationInvalid, "relationInvalid", "this account is not bound to the device, or may not do this with it",
            remedy: "ask the device's owner to share it"),
        Entry(.alreadyBound, "alreadyBound", "the device is already bound to this account", remedy: "nothing to do"),
        Entry(
            .boundToOther, "boundToOther", "the device is bound to another account",
            remedy: "its owner must unbind it first, or force the binding"),
        Entry(
            .customerMismatch, "customerMismatch", "this account may not be bound to the device",
            remedy: "use an account that is not temporary"),
        Entry(
            .reservedPropertyName, "reservedPropertyName",
            "names that begin with '_' belong to the built-in properties",
            remedy: "choose a name without a leading '_'"),
    ]
}
