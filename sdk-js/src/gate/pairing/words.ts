/**
 * The 256 words of pairing, one for each byte: both screens show the same two, and a person compares them.
 *
 * The list is frozen: a device and the service of another version must show the same words.
 */
export const WORDS: readonly string[] = `
  acorn actor album alpine amber anchor anvil apple apron arrow aspen atlas autumn badger bagel bakery balcony
  bamboo banana banjo barley basil basket beacon beaver beetle bench bicycle birch biscuit bishop bison blanket
  blossom bottle breeze brick bridge bronze bubble bucket butter button cabin cactus camel candle canoe canyon
  carbon cargo carpet castle cedar cello chalk cherry chess chimney cinema circle citrus clover cobalt cocoa
  coconut comet compass copper coral cotton cousin cradle crane crayon cricket crystal cymbal daisy dancer desert
  diamond dolphin domino dragon drum eagle easel echo eclipse elbow elephant emerald engine falcon feather fiddle
  finch flannel flute forest fossil fox galaxy garden garlic geyser ginger giraffe glacier goblet granite grape
  guitar hammer harbor harvest hazel hedgehog helmet heron hickory honey hornet igloo indigo island ivory jacket
  jaguar jasmine jelly jigsaw jungle juniper kayak kettle kitten koala ladder lagoon lantern lemon leopard lettuce
  library lily lizard lobster lotus magnet mango maple marble meadow melon meteor mirror monkey mosaic mountain
  muffin museum mustard napkin nectar needle nickel noodle nutmeg oak oasis ocean octopus olive onion opal orange
  orbit orchid otter oyster paddle palace panda papaya parrot peach pebble pelican pencil pepper piano pigeon
  pirate planet plum pocket pony poppy potato prism pumpkin puzzle quartz rabbit radish rainbow raven ribbon river
  robin saffron salmon sandal sapphire satin scarf shadow shelter silver spider spinach spruce squirrel statue
  summer sunset swan teapot temple thunder tiger tomato topaz tractor trumpet tulip tunnel turtle umbrella valley
  vanilla velvet violin volcano waffle walnut walrus whistle willow window winter yogurt zebra zipper
`
  .trim()
  .split(/\s+/);
