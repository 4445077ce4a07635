#include "CFerry.h"
